import { createRoute } from '@hono/zod-openapi';
import { getContact } from '../../../db/contacts/contacts.ts';
import { getWorkflow, type WorkflowDetail } from '../../../db/workflows/workflows.ts';
import { type PreviewRequest, previewExecution } from '../../../engine/automations/preview.ts';
import { AppError, createFieldError } from '../../../rules/errors.ts';
import { parseDataChanges } from '../../../rules/filters/data-values.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { toRunEvents, WorkflowParams } from '../executions/input.ts';
import { createEffectPreviews } from './effects.ts';
import { PreviewWorkflow } from './input.ts';
import { toPreviewResponse, WorkflowPreview } from './response.ts';

const previewRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/preview',
  operationId: 'previewWorkflow',
  idempotency: 'none',
  tags: ['Workflows'],
  summary: 'Preview a workflow for a contact',
  description:
    'Simulates an execution of the workflow for a contact, even if the workflow is disabled. Returns the steps with their times, the branches with their conditions, and which messages would be sent, or why they would not be sent. The preview changes nothing and calls no endpoint. It assumes that endpoints respond with 200, unless `webhooks` says otherwise.',
  security: allowScopes('workflows:view'),
  request: { params: WorkflowParams, body: jsonBody(PreviewWorkflow) },
  responses: { 200: jsonResponse(WorkflowPreview), ...errorResponses('RATE_LIMIT_EXCEEDED') },
});

export function registerWorkflowPreviewRoutes(app: App, { config, reads, compute }: Deps): void {
  app.openapi(previewRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { contactId, contact, event, context, startAt, events, webhooks } = c.req.valid('json');
    const { projectId, project } = c.var;
    if (contactId !== undefined) await getContact(reads, { projectId, id: contactId });
    if (webhooks) refuseUnknownSteps(webhooks, await getWorkflow(reads, { projectId, id: workflowId }));
    const startsAt = startAt ?? new Date();
    const request: PreviewRequest = {
      projectId,
      workflowId,
      event: event ?? {},
      context: context ?? {},
      startAt: startsAt,
      ...(contactId === undefined ? toPreviewContact(projectId, contact, startsAt) : { contactId }),
      events: toRunEvents(events),
      zone: project.timezone,
      effects: createEffectPreviews({ db: reads, compute, config }, webhooks ?? []),
    };
    const preview = await compute.runLargeRead({ projectId, kind: 'workflow.preview' }, () =>
      previewExecution(reads, request),
    );
    return c.json(toPreviewResponse({ workflowId, contactId: contactId ?? null }, preview), 200);
  });
}

/**
 * Refuses assumed responses for steps that do not exist, because they would have no effect.
 * @throws AppError VALIDATION_ERROR
 */
function refuseUnknownSteps(webhooks: readonly { step: string }[], { steps }: Pick<WorkflowDetail, 'steps'>): void {
  const stepNames = new Set(steps.filter(({ type }) => type === 'WEBHOOK').flatMap(({ id, name }) => [id, name]));
  const at = webhooks.findIndex(({ step }) => !stepNames.has(step));
  if (at >= 0)
    throw createFieldError(`webhooks.${at}.step`, 'The workflow has no WEBHOOK step with this id or name.', 'custom');
}

/**
 * Returns the row of `contacts` that a person who is not a contact would have.
 * @throws AppError VALIDATION_ERROR for data beyond its limits
 */
function toPreviewContact(
  projectId: string,
  contact: { email: string; subscribed: boolean; data?: Record<string, unknown> | null | undefined } | undefined,
  at: Date,
): Pick<PreviewRequest, 'contactId' | 'contact'> {
  const id = uuidv7();
  const [created_at, updated_at] = [at.toISOString(), at.toISOString()];
  const { set: data, errors } = parseDataChanges(contact?.data);
  if (errors.length > 0)
    throw new AppError('VALIDATION_ERROR', {
      errors: errors.map((fault) => ({ ...fault, field: `contact.${fault.field}` })),
    });
  const { email = '', subscribed = true } = contact ?? {};
  return {
    contactId: id,
    contact: {
      id,
      project_id: projectId,
      email: email.trim().toLowerCase(),
      subscribed,
      data,
      untrusted_keys: [],
      created_at,
      updated_at,
    },
  };
}
