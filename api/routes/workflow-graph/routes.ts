import { createRoute } from '@hono/zod-openapi';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { errorResponses, jsonBody } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { toWorkflowDetailResponse } from '../workflows/response.ts';
import { GRAPH_MAX_BYTES, GraphParams, SaveGraph } from './input.ts';
import { SavedGraph } from './response.ts';
import { saveGraph } from './save.ts';

const saveRoute = createRoute({
  method: 'put',
  path: '/workflows/{id}/graph',
  operationId: 'saveWorkflowGraph',
  tags: ['Workflows'],
  summary: 'Save all steps and transitions of a workflow',
  description:
    'Replaces all steps and transitions, or changes nothing. Returns 409 if the graph has changed since `version`. Steps that the request does not contain are removed, and executions at these steps end EXITED with the reason `step_deleted`. A 422 lists the errors of all steps (`steps.<id>`) or, if no step has an error, the errors of the transitions (`transitions.<index>`). If the workflow is enabled, the graph must also pass the checks for enabling a workflow, except that senders may be on unverified domains. For a new step, choose any text as its `id`.',
  security: allowScopes('workflows:edit'),
  request: { params: GraphParams, headers: IfMatch, body: jsonBody(SaveGraph) },
  responses: { 200: versionedResponse(SavedGraph), ...errorResponses('CONFLICT') },
});

export function registerWorkflowGraphRoutes(app: App, { config, db, outbox }: Deps): void {
  const { secretKey, webhookAllowPrivate: allowPrivate } = config;

  app.openapi({ ...saveRoute, maxBodyBytes: GRAPH_MAX_BYTES }, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const graph = c.req.valid('json');
    const {
      workflow,
      ids,
      faults,
      outbox: queued,
    } = await saveGraph(db, {
      projectId: c.var.projectId,
      workflowId,
      secretKey,
      allowPrivate,
      graph,
      read: readVersion(c, graph),
    });
    if (!graph.dryRun) setETag(c, workflow);
    outbox.wake(queued);
    return c.json({ workflow: toWorkflowDetailResponse(secretKey, workflow), ids, faults, dryRun: graph.dryRun }, 200);
  });
}
