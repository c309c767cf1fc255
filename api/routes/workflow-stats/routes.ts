import { createRoute, z } from '@hono/zod-openapi';
import { countStepEmails } from '../../../db/executions/step-emails.ts';
import { countVisits, listContactsAtStep } from '../../../db/executions/step-stats.ts';
import { listEndedVisits } from '../../../db/executions/step-visits.ts';
import { getStep } from '../../../db/workflows/workflow-steps.ts';
import { getWorkflow } from '../../../db/workflows/workflows.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery, IdParams, InstantInput } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { StepParams } from '../workflow-steps/input.ts';
import {
  EndedVisitStatusSchema,
  StepContact,
  StepVisitList,
  toStepContactResponse,
  toStepStatsResponse,
  toStepVisitResponse,
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
    'Counts the visits to each step that started at or after `since` and before `until`. By default, all visits are counted. Returns how many visits wait or run now, how the others ended, and how many left the step by each branch. Visits during which the execution exited or was cancelled are not counted.',
  security: allowScopes('workflows:view'),
  request: {
    params: IdParams,
    query: z.object({ since: InstantInput.optional(), until: InstantInput.optional() }),
  },
  responses: { 200: jsonResponse(WorkflowStats) },
});

const contactsRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/steps/{stepId}/contacts',
  operationId: 'listContactsAtStep',
  tags,
  summary: 'List contacts at a step',
  description:
    'Lists the contacts, the latest execution first. If the time is known at which an execution continues, it is in `dueAt`.',
  security: allowScopes('workflows:view'),
  request: { params: StepParams, query: cursorQuery(20) },
  responses: { 200: jsonResponse(cursorList(StepContact)) },
});

const visitsRoute = createRoute({
  method: 'get',
  path: '/workflows/{id}/steps/{stepId}/visits',
  operationId: 'listStepVisits',
  tags,
  summary: 'List contacts that have left a step, by outcome',
  description:
    'Lists ended visits with this `status`, the latest first. The default is COMPLETED. CANCELLED means that the execution ended during the visit. Visits of sandbox executions are not listed.',
  security: allowScopes('workflows:view'),
  request: {
    params: StepParams,
    query: cursorQuery(20).extend({
      status: EndedVisitStatusSchema.default('COMPLETED'),
      branch: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .openapi({ description: 'Only contacts that left the step by this branch' }),
    }),
  },
  responses: { 200: jsonResponse(StepVisitList) },
});

/** Registers the statistics of a workflow, step by step. */
export function registerWorkflowStatsRoutes(app: App, { db, reads }: Deps): void {
  app.openapi(statsRoute, async (c) => {
    const { since, until } = c.req.valid('query');
    const { projectId } = c.var;
    const { steps } = await getWorkflow(db, { projectId, id: c.req.valid('param').id });
    const idsOf = (some: typeof steps) => some.map(({ id }) => id);
    const emailSteps = steps.filter(({ type }) => type === 'SEND_EMAIL');
    const [counts, emails] = await Promise.all([
      countVisits(reads, { projectId, stepIds: idsOf(steps), since, until }),
      countStepEmails(reads, { projectId, stepIds: idsOf(emailSteps), since, until }),
    ]);
    const span = { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null };
    return c.json({ ...span, steps: steps.map((step) => toStepStatsResponse(step, counts, emails)) }, 200);
  });

  app.openapi(contactsRoute, async (c) => {
    const { id: workflowId, stepId } = c.req.valid('param');
    const { projectId } = c.var;
    await getStep(db, { projectId, workflowId, stepId });
    const { items, ...page } = await listContactsAtStep(reads, { projectId, stepId, ...c.req.valid('query') });
    return c.json({ ...page, data: items.map(toStepContactResponse) }, 200);
  });

  app.openapi(visitsRoute, async (c) => {
    const { id: workflowId, stepId } = c.req.valid('param');
    const { projectId } = c.var;
    await getStep(db, { projectId, workflowId, stepId });
    const { items, ...page } = await listEndedVisits(reads, { projectId, stepId, ...c.req.valid('query') });
    return c.json({ ...page, data: items.map(toStepVisitResponse) }, 200);
  });
}
