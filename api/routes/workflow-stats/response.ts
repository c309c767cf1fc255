import { z } from '@hono/zod-openapi';
import type { StepEmails } from '../../../db/executions/step-emails.ts';
import type { BranchCounts, ContactAtStep } from '../../../db/executions/step-stats.ts';
import { ENDED_VISIT_STATUSES, type EndedVisit } from '../../../db/executions/step-visits.ts';
import type { Step } from '../../../db/workflows/workflows.ts';
import { STEPS } from '../../../rules/executions/steps/registry.ts';
import { cursorList, EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { StepTypeSchema } from '../workflows/response.ts';

const Count = z.number().int();

const StepStats = z.object({
  stepId: Id,
  type: StepTypeSchema,
  name: z.string(),
  waiting: Count,
  running: Count,
  completed: Count,
  failed: Count,
  skipped: Count,
  branches: z.record(z.string(), Count).openapi({ description: 'Number of completed visits by branch.' }),
  emails: z.object({ sent: Count, opened: Count, clicked: Count }).nullable().openapi({
    description:
      'Results of the latest 500 emails of a SEND_EMAIL step. Only opens and clicks by humans count. Null for other steps.',
  }),
});

export const WorkflowStats = z
  .object({ since: Instant.nullable(), until: Instant.nullable(), steps: z.array(StepStats) })
  .openapi('WorkflowStats', {
    example: {
      since: null,
      until: null,
      steps: [
        {
          stepId: EXAMPLE_ID,
          type: 'CONDITION',
          name: 'On pro?',
          waiting: 0,
          running: 0,
          completed: 120,
          failed: 0,
          skipped: 0,
          branches: { yes: 45, no: 75 },
          emails: null,
        },
      ],
    },
  });

export const StepContact = z
  .object({
    executionId: Id,
    contactId: Id,
    email: z.string().nullable(),
    status: z.enum(['RUNNING', 'WAITING']),
    attempts: Count.openapi({ description: 'Number of attempts to carry out the effect of the step.' }),
    startedAt: Instant,
    dueAt: Instant.nullable().openapi({ description: 'When a DELAY ends, or a WAIT_FOR_EVENT times out.' }),
    error: z.string().nullable(),
  })
  .openapi('ContactAtStep', {
    example: {
      executionId: EXAMPLE_ID,
      contactId: EXAMPLE_ID,
      email: 'ada@example.com',
      status: 'WAITING',
      attempts: 1,
      startedAt: '2026-01-01T12:00:00.000Z',
      dueAt: '2026-01-02T12:00:00.000Z',
      error: null,
    },
  });

export const EndedVisitStatusSchema = z.enum(ENDED_VISIT_STATUSES);

const StepVisit = z
  .object({
    executionId: Id,
    contactId: Id,
    email: z.string().nullable().openapi({ description: 'Null after the contact is erased' }),
    status: EndedVisitStatusSchema,
    attempts: Count,
    startedAt: Instant,
    completedAt: Instant,
    output: z.record(z.string(), z.unknown()).nullable().openapi({
      description: 'Same as `output` of the step in the execution: `reason` of a skipped step, `branch`, `emailId` …',
    }),
    error: z.string().nullable(),
  })
  .openapi('StepVisit', {
    example: {
      executionId: EXAMPLE_ID,
      contactId: EXAMPLE_ID,
      email: 'ada@example.com',
      status: 'SKIPPED',
      attempts: 1,
      startedAt: '2026-01-01T12:00:00.000Z',
      completedAt: '2026-01-01T12:00:00.000Z',
      output: { reason: 'not_subscribed' },
      error: null,
    },
  });

export const StepVisitList = cursorList(StepVisit)
  .extend({
    total: Count.nullable().openapi({
      description:
        'Number of visits in the statistics, including visits whose records have been deleted. Null for `status=CANCELLED`. 0 on later pages.',
    }),
  })
  .openapi('StepVisitList', { example: { data: [], cursor: null, hasMore: false, total: 0 } });

/**
 * Converts the counts of a step to its response. All branches of the step are included, also branches without visits.
 */
export function toStepStatsResponse(step: Step, counts: BranchCounts[], emails: StepEmails[]) {
  const { id, type, name, config } = step;
  const stepCounts = counts.filter(({ stepId }) => stepId === id);
  const sum = (status: 'waiting' | 'running' | 'completed' | 'failed' | 'skipped') =>
    stepCounts.reduce((total, count) => total + count[status], 0);
  const branches: Record<string, number> = {};
  for (const branch of STEPS[type].branches(config)) if (branch !== null) branches[branch] = 0;
  for (const { branch, completed } of stepCounts) {
    if (branch !== '' && (completed > 0 || branch in branches)) branches[branch] = completed;
  }
  return {
    stepId: id,
    type,
    name,
    waiting: sum('waiting'),
    running: sum('running'),
    completed: sum('completed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    branches,
    emails: type === 'SEND_EMAIL' ? findEmailCounts(id, emails) : null,
  };
}

function findEmailCounts(id: string, emails: StepEmails[]) {
  const { sent = 0, opened = 0, clicked = 0 } = emails.find(({ stepId }) => stepId === id) ?? {};
  return { sent, opened, clicked };
}

export function toStepContactResponse({ startedAt, dueAt, status, type: _, ...rest }: ContactAtStep) {
  return {
    ...rest,
    status: status === 'WAITING' ? ('WAITING' as const) : ('RUNNING' as const),
    startedAt: startedAt.toISOString(),
    dueAt: dueAt?.toISOString() ?? null,
  };
}

export function toStepVisitResponse({ startedAt, completedAt, ...rest }: EndedVisit) {
  return { ...rest, startedAt: startedAt.toISOString(), completedAt: completedAt.toISOString() };
}
