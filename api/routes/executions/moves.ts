import { createRoute } from '@hono/zod-openapi';
import type { Trx } from '../../../db/connection.ts';
import { getExecution } from '../../../db/executions/executions.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { advanceExecution, type ExecutionRef, retryExecution } from '../../../engine/automations/moves.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { ExecutionDetailSchema, toExecutionDetailResponse } from '../workflows/response.ts';
import { AdvanceExecution, ExecutionParams } from './input.ts';

const tags = ['Workflows'];

const advanceRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/executions/{executionId}/advance',
  operationId: 'advanceExecution',
  unknownFields: 'refuse',
  tags,
  summary: 'Advance a waiting execution',
  description:
    'Ends the current wait of an execution: a DELAY, a WAIT_FOR_EVENT, or the wait for a sending window. After a WAIT_FOR_EVENT, the execution takes the `branch` (`timeout` by default). Returns 409 if the execution does not wait, or has ended.',
  security: allowScopes('workflows:edit'),
  request: { params: ExecutionParams, body: jsonBody(AdvanceExecution, { optional: true }) },
  responses: { 200: jsonResponse(ExecutionDetailSchema), ...errorResponses('CONFLICT') },
});

const retryRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/executions/{executionId}/retry',
  operationId: 'retryExecution',
  unknownFields: 'refuse',
  tags,
  summary: 'Retry a failed execution',
  description:
    'Continues a FAILED execution from the failed step, with the current workflow and contact. The execution keeps its id and history. Returns 409 if the execution is not FAILED, if it is FAILED with `loop`, if the failed step was deleted, or if the contact has another active execution of the workflow.',
  security: allowScopes('workflows:edit'),
  request: { params: ExecutionParams },
  responses: { 200: jsonResponse(ExecutionDetailSchema), ...errorResponses('CONFLICT') },
});

/** Registers the operations that advance or retry an execution. */
export function registerExecutionMoveRoutes(app: App, { db, lifecycle, outbox }: Deps): void {
  /** Changes an execution and reads it in one transaction, then wakes the workers. */
  async function changeExecution(ref: ExecutionRef, change: (trx: Trx) => Promise<OutboxRow[]>) {
    const { execution, outbox: queued } = await inTransaction(db, async (trx) => {
      const queued = await change(trx);
      return { execution: await getExecution(trx, ref), outbox: queued };
    });
    outbox.wake(queued);
    return toExecutionDetailResponse(execution, lifecycle.names);
  }

  app.openapi(advanceRoute, async (c) => {
    const { id: workflowId, executionId } = c.req.valid('param');
    const ref = { projectId: c.var.projectId, workflowId, executionId };
    const { branch } = c.req.valid('json');
    return c.json(
      await changeExecution(ref, (trx) => advanceExecution(trx, { ...ref, branch: branch ?? undefined })),
      200,
    );
  });

  app.openapi(retryRoute, async (c) => {
    const { id: workflowId, executionId } = c.req.valid('param');
    const ref = { projectId: c.var.projectId, workflowId, executionId };
    return c.json(await changeExecution(ref, (trx) => retryExecution(trx, ref)), 200);
  });
}
