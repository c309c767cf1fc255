import { createRoute, z } from '@hono/zod-openapi';
import { countVisits, listContactsAtStep } from '../../../db/executions/step-stats.ts';
import { listEndedVisits } from '../../../db/executions/step-visits.ts';
import { getStep } from '../../../db/workflows/workflow-steps.ts';
import { getWorkflow } from '../../../db/workflows/workflows.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { ok } from '../../http/responses.ts';
import { cursorList, cursorQuery, IdParams, InstantInput } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';
import { StepParams } from '../workflow-steps/input.ts';
import {
  EndedVisitStatusSchema,
  StepContact,
  StepVisitList,
  stepContactResponse,
  stepStatsResponse,
  stepVisitResponse,
  WorkflowStats,
} from './response.ts';

const tags = ['Workflows'];

const statsRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/stats',
  operationId: 'getWorkflowStats',
  tags,
  summary: 'Count the visits to each step of a workflow',
  description:
    'Those that began from `since` on and before `until`, over all without: how many wait or run now, and how the others ended; by branch where a step has a choice. A visit that was cut short, by an exit or a cancel, is in none.',
  security: scopes('workflows:view'),
  request: {
    params: IdParams,
    query: z.object({ since: InstantInput.optional(), until: InstantInput.optional() }),
  },
  responses: { 200: ok(WorkflowStats) },
});

const contactsRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/steps/{stepId}/contacts',
  operationId: 'listContactsAtStep',
  tags,
  summary: 'List who is at a step just now',
  description: 'Whose execution began last first, with the instant at which each goes on where that is known.',
  security: scopes('workflows:view'),
  request: { params: StepParams, query: cursorQuery(20) },
  responses: { 200: ok(cursorList(StepContact)) },
});

const visitsRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/steps/{stepId}/visits',
  operationId: 'listStepVisits',
  tags,
  summary: 'List who has left a step, by what became of the visit',
  description:
    'COMPLETED unless `status` says SKIPPED, FAILED, or CANCELLED for those that were cut short; who left last is first. Runs in a sandbox are in none.',
  security: scopes('workflows:view'),
  request: {
    params: StepParams,
    query: cursorQuery(20).extend({
      status: EndedVisitStatusSchema.default('COMPLETED'),
      branch: z.string().min(1).max(100).optional().openapi({ description: 'Only who left it by this branch' }),
    }),
  },
  responses: { 200: ok(StepVisitList) },
});

/** Registers the statistics of a workflow, step by step. */
export function workflowStatsRoutes(app: App, { db, reads }: Deps): void {
  app.openapi(statsRoute, async (c) => {
    const { since, until } = c.req.valid('query');
    const { projectId } = c.var;
    const { steps } = await getWorkflow(db, { projectId, id: c.req.valid('param').id });
    const counts = await countVisits(reads, { projectId, stepIds: steps.map(({ id }) => id), since, until });
    const span = { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null };
    return c.json({ ...span, steps: steps.map((step) => stepStatsResponse(step, counts)) }, 200);
  });

  app.openapi(contactsRoute, async (c) => {
    const { id: workflowId, stepId } = c.req.valid('param');
    const { projectId } = c.var;
    await getStep(db, { projectId, workflowId, stepId });
    const { items, ...page } = await listContactsAtStep(reads, { projectId, stepId, ...c.req.valid('query') });
    return c.json({ ...page, data: items.map(stepContactResponse) }, 200);
  });

  app.openapi(visitsRoute, async (c) => {
    const { id: workflowId, stepId } = c.req.valid('param');
    const { projectId } = c.var;
    await getStep(db, { projectId, workflowId, stepId });
    const { items, ...page } = await listEndedVisits(reads, { projectId, stepId, ...c.req.valid('query') });
    return c.json({ ...page, data: items.map(stepVisitResponse) }, 200);
  });
}
