import { createRoute, z } from '@hono/zod-openapi';
import {
  cancelAllExecutions,
  cancelExecution,
  getExecution,
  listExecutions,
} from '../../../db/executions/executions.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { getWorkflow } from '../../../db/workflows/workflows.ts';
import { startSandbox } from '../../../engine/automations/sandbox.ts';
import { startManually } from '../../../engine/automations/start-manually.ts';
import type { Config } from '../../../rules/config.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery, Id, QuerySwitch } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import {
  ExecutionDetailSchema,
  ExecutionSchema,
  ExecutionStatusSchema,
  toExecutionDetailResponse,
  toExecutionResponse,
} from '../workflows/response.ts';
import { ExecutionParams, StartExecution, toRunEvents, WorkflowParams } from './input.ts';

const tags = ['Workflows'];

const startRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/executions',
  operationId: 'startExecution',
  unknownFields: 'refuse',
  tags,
  summary: 'Start a workflow for a contact',
  description:
    'Starts an execution without an event. Steps can use the keys of `context` as variables. Returns an error if the workflow is disabled, or if its re-entry rule does not allow the contact to enter. Neither rule applies to a `sandbox`.',
  security: allowScopes('workflows:edit'),
  request: { params: WorkflowParams, body: jsonBody(StartExecution) },
  responses: { 201: jsonResponse(ExecutionDetailSchema), ...errorResponses('CONFLICT') },
});

const listRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/executions',
  operationId: 'listExecutions',
  tags,
  summary: 'List the executions of a workflow',
  description: 'Newest first.',
  security: allowScopes('workflows:view'),
  request: {
    params: WorkflowParams,
    query: cursorQuery(20).extend({
      status: ExecutionStatusSchema.optional(),
      contactId: Id.optional(),
      sandbox: QuerySwitch.optional().openapi({
        description: '`true` lists only sandbox executions, `false` only real executions',
      }),
    }),
  },
  responses: { 200: jsonResponse(cursorList(ExecutionSchema)) },
});

const getRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/executions/{executionId}',
  operationId: 'getExecution',
  tags,
  summary: 'Get an execution with its steps',
  description:
    'Returns each visit to a step in order, with its effect, time and attempts, and the reason if the step did nothing.',
  security: allowScopes('workflows:view'),
  request: { params: ExecutionParams },
  responses: { 200: jsonResponse(ExecutionDetailSchema) },
});

const cancelRoute = createRoute({
  method: 'delete',
  path: '/workflows/{id}/executions/{executionId}',
  operationId: 'cancelExecution',
  tags,
  summary: 'Cancel an execution',
  description:
    'Cancels the execution and returns it. If an email is being sent at that moment, it is sent and recorded.',
  security: allowScopes('workflows:edit'),
  request: { params: ExecutionParams },
  responses: { 200: jsonResponse(ExecutionDetailSchema), ...errorResponses('CONFLICT') },
});

const cancelAllRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/executions/cancel-all',
  operationId: 'cancelAllExecutions',
  unknownFields: 'refuse',
  tags,
  summary: 'Cancel all active executions of a workflow',
  description: 'Returns the number of cancelled executions.',
  security: allowScopes('workflows:edit'),
  request: { params: WorkflowParams },
  responses: {
    200: jsonResponse(
      z
        .object({ cancelled: z.number().int(), count: z.number().int() })
        .openapi('CancelledExecutions', { example: { cancelled: 12, count: 12 } }),
    ),
  },
});

export function registerExecutionRoutes(app: App, { config, db, reads, lifecycle, outbox }: Deps): void {
  const { names } = lifecycle;
  app.openapi(startRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { contactId, context, sandbox, skipDelays = false, events } = c.req.valid('json');
    const { projectId, project, mode } = c.var;
    const start = { projectId, workflowId, contactId, context: context ?? {} };
    const result = await inTransaction(db, async (trx) => {
      const { executionId, outbox: queued } = sandbox
        ? await startSandbox(trx, { ...start, skipDelays, events: toRunEvents(events), zone: project.timezone })
        : await startManually(trx, { ...start, mode });
      return { execution: await getExecution(trx, { projectId, workflowId, executionId }), outbox: queued };
    });
    outbox.wake(result.outbox);
    noteAffectedRows(c, { executions: [result.execution.id] });
    return c.json(toExecutionDetailResponse(result.execution, names), 201);
  });

  app.openapi(listRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { projectId } = c.var;
    await getWorkflow(db, { projectId, id: workflowId });
    const { items, ...page } = await listExecutions(reads, { projectId, workflowId, ...c.req.valid('query') });
    return c.json({ ...page, data: items.map((item) => toExecutionResponse(item, names)) }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const { id, executionId } = c.req.valid('param');
    const execution = await getExecution(db, { projectId: c.var.projectId, workflowId: id, executionId });
    const workflowId = names.execution(executionId);
    const runId = await lifecycle.findRunId(workflowId);
    const url = createTemporalUrl(config.temporal, { workflowId, runId });
    return c.json(toExecutionDetailResponse(execution, names, { runId, url }), 200);
  });

  app.openapi(cancelRoute, async (c) => {
    const { id: workflowId, executionId } = c.req.valid('param');
    const ref = { projectId: c.var.projectId, workflowId, executionId };
    const { execution, outbox: queued } = await inTransaction(db, async (trx) => {
      const queued = await cancelExecution(trx, ref);
      return { execution: await getExecution(trx, ref), outbox: queued };
    });
    outbox.wake(queued);
    return c.json(toExecutionDetailResponse(execution, names), 200);
  });

  app.openapi(cancelAllRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { projectId } = c.var;
    const { cancelled, outbox: queued } = await inTransaction(db, async (trx) => {
      await getWorkflow(trx, { projectId, id: workflowId });
      return cancelAllExecutions(trx, { projectId, workflowId });
    });
    outbox.wake(queued);
    return c.json({ cancelled, count: cancelled }, 200);
  });
}

/**
 * Returns the URL of a Temporal workflow in Temporal's UI. Null if TEMPORAL_UI_URL is not set. Without a run id, the
 * page shows the current run.
 */
function createTemporalUrl(
  { uiUrl, namespace }: Pick<Config['temporal'], 'uiUrl' | 'namespace'>,
  { workflowId, runId }: { workflowId: string; runId: string | null },
): string | null {
  if (uiUrl === undefined) return null;
  const page = `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
  return runId === null ? page : `${page}/${encodeURIComponent(runId)}/history`;
}
