import { createRoute, z } from '@hono/zod-openapi';
import type { Trx } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { maskStepConfig } from '../../../db/workflows/step-secrets.ts';
import {
  deleteStep,
  deleteTransition,
  getStep,
  insertStep,
  insertTransition,
  updateStep,
} from '../../../db/workflows/workflow-steps.ts';
import { lockWorkflow } from '../../../db/workflows/workflows.ts';
import { isSameJson } from '../../../rules/as-code/changes.ts';
import { AppError, createFieldError } from '../../../rules/errors.ts';
import { hasField } from '../../../rules/executions/steps/names.ts';
import { STEPS, type StepType } from '../../../rules/executions/steps/registry.ts';
import { findConditionSizeError } from '../../../rules/filters/condition-size.ts';
import { readOwnValue } from '../../../rules/own-value.ts';
import { isStoredAt } from '../../../rules/stored-values.ts';
import { resolveAliases } from '../../http/aliases.ts';
import type { Deps } from '../../http/deps.ts';
import type { App, RequestContext } from '../../http/env.ts';
import { toFieldErrors } from '../../http/field-errors.ts';
import { describeFreeJsonLimit, exceedsFreeJsonLimit } from '../../http/free-json.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { emptyResponse, errorResponses, jsonBody } from '../../http/responses.ts';
import { Id, QuerySwitch } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { collectFieldNames, formatNamesForHeader } from '../../http/unknown-fields.ts';
import { StepSchema, TransitionSchema, toStepResponse, toTransitionResponse } from '../workflows/response.ts';
import { CreateStep, CreateTransition, PatchStep, StepParams, WorkflowParams } from './input.ts';
import { refusePrivateUrl } from './private-urls.ts';

const tags = ['Workflows'];

const createStepRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/steps',
  operationId: 'createWorkflowStep',
  tags,
  summary: 'Add a step',
  description:
    'Adds a step to the workflow. The first step becomes the entry. With `autoConnect`, the last other step that has a branch without a transition is connected to the new step.',
  security: allowScopes('workflows:edit'),
  request: { params: WorkflowParams, headers: IfMatch, body: jsonBody(CreateStep) },
  responses: { 201: versionedResponse(StepSchema), ...errorResponses('DOMAIN_NOT_VERIFIED', 'CONFLICT') },
});

const patchStepRoute = createRoute({
  method: 'patch',
  path: '/workflows/{id}/steps/{stepId}',
  operationId: 'updateWorkflowStep',
  tags,
  summary: 'Update a step',
  description:
    'Changes the step for every execution that has not passed it yet. If you send back a masked header value, or `***` in a URL, the stored secret stays, unless you change the scheme, host or port of the URL.',
  security: allowScopes('workflows:edit'),
  request: { params: StepParams, headers: IfMatch, body: jsonBody(PatchStep) },
  responses: { 200: versionedResponse(StepSchema), ...errorResponses('DOMAIN_NOT_VERIFIED', 'CONFLICT') },
});

const deleteStepRoute = createRoute({
  method: 'delete',
  path: '/workflows/{id}/steps/{stepId}',
  operationId: 'deleteWorkflowStep',
  tags,
  summary: 'Remove a step',
  description:
    'Removes the step and its transitions. With `splice=true`, the steps before and after it are connected. Executions at the step end EXITED with the reason `step_deleted`.',
  security: allowScopes('workflows:edit'),
  request: { params: StepParams, headers: IfMatch, query: z.object({ splice: QuerySwitch.optional() }) },
  responses: { 204: emptyResponse(), ...errorResponses('CONFLICT') },
});

const createTransitionRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/transitions',
  operationId: 'createWorkflowTransition',
  tags,
  summary: 'Connect two steps',
  description:
    'Adds a transition from one step to another. `branch` is `yes` or `no` for a CONDITION, and the name of a branch for a SPLIT. For a WAIT_FOR_EVENT it is `event`, `timeout` or omitted. Omit it for other steps.',
  security: allowScopes('workflows:edit'),
  request: { params: WorkflowParams, headers: IfMatch, body: jsonBody(CreateTransition) },
  responses: { 201: versionedResponse(TransitionSchema), ...errorResponses('CONFLICT') },
});

const deleteTransitionRoute = createRoute({
  method: 'delete',
  path: '/workflows/{id}/transitions/{transitionId}',
  operationId: 'deleteWorkflowTransition',
  tags,
  summary: 'Remove a transition',
  description:
    'Removes a transition. Executions that complete its first step later follow the remaining transitions of that step.',
  security: allowScopes('workflows:edit'),
  request: { params: z.object({ id: Id, transitionId: Id }), headers: IfMatch },
  responses: { 204: emptyResponse(), ...errorResponses('CONFLICT') },
});

export function registerWorkflowStepRoutes(app: App, { config, db, outbox }: Deps): void {
  const { secretKey, webhookAllowPrivate: allowPrivate } = config;

  app.openapi(createStepRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { type, name, config, templateId, position, autoConnect } = c.req.valid('json');
    const read = readVersion(c);
    const checkedConfig = checkConfig(type, withTemplate(config, { type, templateId }) ?? config);
    refusePrivateUrl(type, checkedConfig, { allowPrivate });
    const step = await changeGraph(c, (trx) =>
      insertStep(trx, {
        projectId: c.var.projectId,
        workflowId,
        type,
        name: name ?? type,
        config: checkedConfig,
        position: position ?? null,
        autoConnect,
        secretKey,
        read,
      }),
    );
    return c.json(toStepResponse(secretKey, step), 201);
  });

  app.openapi(patchStepRoute, async (c) => {
    const { id: workflowId, stepId } = c.req.valid('param');
    const { name, config, templateId, position, updatedAt } = c.req.valid('json');
    const read = readVersion(c, { updatedAt });
    const ref = { projectId: c.var.projectId, workflowId, stepId };
    const step = await changeGraph(c, async (trx) => {
      const current = await getStep(trx, ref);
      const wanted = withTemplate(config, { type: current.type, templateId, stored: current.config });
      const maskedConfig = maskStepConfig(secretKey, current);
      const checkedConfig =
        wanted && !isSameJson(wanted, maskedConfig) ? checkConfig(current.type, wanted, maskedConfig) : undefined;
      if (checkedConfig) refusePrivateUrl(current.type, checkedConfig, { allowPrivate, stored: current.config });
      if (config) reportIgnoredFields(c, current.type, config);
      return updateStep(trx, { ...ref, name, config: checkedConfig, position, secretKey, read });
    });
    return c.json(toStepResponse(secretKey, step), 200);
  });

  app.openapi(deleteStepRoute, async (c) => {
    const { id: workflowId, stepId } = c.req.valid('param');
    const splice = c.req.valid('query').splice ?? false;
    const read = readVersion(c);
    const queued = await changeGraph(c, (trx) =>
      deleteStep(trx, { projectId: c.var.projectId, workflowId, stepId, splice, read }),
    );
    outbox.wake(queued);
    return c.body(null, 204);
  });

  app.openapi(createTransitionRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { fromStepId, toStepId, branch = null } = c.req.valid('json');
    const newTransition = {
      projectId: c.var.projectId,
      workflowId,
      fromStepId,
      toStepId,
      branch,
      read: readVersion(c),
    };
    const transition = await changeGraph(c, (trx) => insertTransition(trx, newTransition));
    return c.json(toTransitionResponse(transition), 201);
  });

  app.openapi(deleteTransitionRoute, async (c) => {
    const { id: workflowId, transitionId } = c.req.valid('param');
    const ref = { projectId: c.var.projectId, workflowId, transitionId, read: readVersion(c) };
    await changeGraph(c, (trx) => deleteTransition(trx, ref));
    return c.body(null, 204);
  });

  /** Changes a workflow's graph in one transaction, and returns the workflow's new version in `ETag`. */
  async function changeGraph<Done>(c: RequestContext, work: (trx: Trx) => Promise<Done>): Promise<Done> {
    const ref = { projectId: c.var.projectId, id: c.req.param('id') ?? '' };
    const { done, workflow } = await inTransaction(db, async (trx) => ({
      done: await work(trx),
      workflow: await lockWorkflow(trx, ref),
    }));
    setETag(c, workflow);
    return done;
  }
}

/**
 * Returns the config of a step in the form that is stored. A value that the stored step already has is accepted, even
 * if a newer rule forbids it.
 * @param stored the step's config as the caller reads it
 * @throws AppError VALIDATION_ERROR whose field names start with `config`
 */
export function checkConfig(
  type: StepType,
  config: Record<string, unknown>,
  stored?: Record<string, unknown>,
): Record<string, unknown> {
  const { input, older, conditionAt } = STEPS[type];
  const sizeFault = conditionAt && findConditionSizeError(readOwnValue(config, conditionAt));
  if (sizeFault)
    throw createFieldError(['config', ...conditionAt, ...sizeFault.path].join('.'), sizeFault.message, 'too_big');
  if (exceedsFreeJsonLimit(config))
    throw createFieldError('config', describeFreeJsonLimit('The config of a step'), 'too_big');
  const result = input.safeParse(config);
  if (result.success) return { ...result.data };
  const changed = result.error.issues.filter(({ path }) => !older || !stored || !isStoredAt(path, config, stored));
  const asStored = changed.length === 0 ? older?.safeParse(config) : undefined;
  if (asStored?.success) return { ...asStored.data };
  const faults = toFieldErrors(changed.length > 0 ? changed : result.error.issues, config).map((fault) => ({
    ...fault,
    field: `config.${fault.field}`.replace(/\.$/, ''),
  }));
  throw new AppError('VALIDATION_ERROR', { errors: faults });
}

/**
 * Returns the config with its template. A request may have `templateId` in `config` or beside it. Undefined if the
 * request has neither `config` nor `templateId`.
 * @throws AppError VALIDATION_ERROR for two different templates, and for the template of a step that sends no email
 */
function withTemplate(
  config: Record<string, unknown> | undefined,
  p: { type: StepType; templateId: string | null | undefined; stored?: Record<string, unknown> },
): Record<string, unknown> | undefined {
  const { templateId, stored } = p;
  if (!hasField(p.type, 'templateId')) {
    if (templateId) throw createFieldError('templateId', 'Only a SEND_EMAIL step has a template.', 'custom');
    return config;
  }
  if (!config && templateId === undefined) return undefined;
  const { templateId: configTemplateId, ...others } = config ?? stored ?? {};
  if (templateId === null && configTemplateId === stored?.templateId) return others;
  const names = { templateId: templateId ?? undefined, 'config.templateId': configTemplateId };
  const template = resolveAliases<unknown>(names, stored?.templateId);
  return { ...others, ...(template !== undefined && { templateId: template }) };
}

/**
 * Lists the unknown fields of a config in the header `X-Ignored-Fields`. Used if the request does not have the type of
 * the step.
 */
function reportIgnoredFields(c: RequestContext, type: StepType, config: Record<string, unknown>): void {
  const unknown = collectFieldNames(STEPS[type].input).unknownIn(config);
  const names = formatNamesForHeader(unknown.map(({ path }) => ({ path: ['config', ...path] })));
  if (names !== '') c.header('X-Ignored-Fields', names, { append: true });
}
