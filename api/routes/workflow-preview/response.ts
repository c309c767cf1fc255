import { z } from '@hono/zod-openapi';
import { truncateLists } from '../../../db/page-budget.ts';
import type { ExecutionPreview, PreviewedStep } from '../../../engine/automations/preview.ts';
import { VISIT_STATUSES } from '../../../rules/executions/execution.ts';
import { EXAMPLE_ID, Id, Instant, TruncatedLists } from '../../http/schemas.ts';
import { ExecutionStatusSchema, StepTypeSchema } from '../workflows/response.ts';

const AT = '2026-01-01T12:00:00.000Z';
const Json = z.record(z.string(), z.unknown());

const PreviewStep = z.object({
  stepId: Id,
  name: z.string(),
  type: StepTypeSchema,
  status: z.enum(VISIT_STATUSES),
  at: Instant.openapi({ description: 'When the contact reaches the step. Same value as `startedAt`.' }),
  startedAt: Instant,
  completedAt: Instant.nullable(),
  dueAt: Instant.nullable().openapi({
    description: 'When the pause of the step ends. For a step that sends a message: when the sending window opens.',
  }),
  branch: z.string().nullable(),
  condition: Json.nullable().openapi({ description: 'For a CONDITION: its condition.' }),
  filters: z
    .array(
      z.object({
        field: z.string(),
        operator: z.string(),
        value: z.unknown().optional(),
        unit: z.string().optional(),
        holds: z.boolean(),
      }),
    )
    .nullable()
    .openapi({ description: 'For a CONDITION: each filter, and whether it matches.' }),
  wouldSend: z
    .boolean()
    .nullable()
    .openapi({ description: 'For a step that sends a message: whether it would be sent.' }),
  reason: z.string().nullable().openapi({ description: 'Why the message would not be sent.' }),
  channel: z.string().nullable(),
  to: z.string().nullable(),
  from: z.string().nullable(),
  subject: z.string().nullable().openapi({ description: 'Rendered subject, even if the email would not be sent.' }),
  body: z.string().nullable().openapi({ description: 'The text of an SMS.' }),
  request: z
    .object({ method: z.string(), url: z.string(), body: z.unknown() })
    .nullable()
    .openapi({ description: 'For a WEBHOOK: the request that would be made.' }),
  contact: Json.nullable().openapi({ description: 'For an UPDATE_CONTACT: the contact after the update.' }),
  output: Json.nullable(),
  error: z.string().nullable(),
});

const stepExample = {
  stepId: EXAMPLE_ID,
  name: 'A day later',
  type: 'DELAY' as const,
  status: 'COMPLETED' as const,
  at: AT,
  startedAt: AT,
  completedAt: AT,
  dueAt: AT,
  branch: null,
  condition: null,
  filters: null,
  wouldSend: null,
  reason: null,
  channel: null,
  to: null,
  from: null,
  subject: null,
  body: null,
  request: null,
  contact: null,
  output: null,
  error: null,
};

export const WorkflowPreview = z
  .object({
    workflowId: Id,
    contactId: Id.nullable(),
    status: ExecutionStatusSchema.openapi({
      description:
        'Status of the simulated execution at its end. WAITING means that the last step waits for an event that is not in `events`.',
    }),
    exitReason: z.string().nullable(),
    error: z.string().nullable(),
    startedAt: Instant,
    endedAt: Instant.nullable(),
    steps: z.array(PreviewStep),
    truncated: TruncatedLists,
  })
  .openapi('WorkflowPreview', {
    example: {
      workflowId: EXAMPLE_ID,
      contactId: EXAMPLE_ID,
      status: 'COMPLETED',
      exitReason: null,
      error: null,
      startedAt: AT,
      endedAt: AT,
      steps: [stepExample],
    },
  });

/** Converts the preview of an execution to its response. */
export function toPreviewResponse(
  { workflowId, contactId }: { workflowId: string; contactId: string | null },
  { status, exitReason, error, startedAt, endedAt, steps }: ExecutionPreview,
) {
  return {
    workflowId,
    contactId,
    status,
    exitReason,
    error,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    ...truncateLists({ steps: steps.map(toStepResponse) }),
  };
}

function toStepResponse(step: PreviewedStep) {
  const { stepId, name, type, status, branch, output, error, filters } = step;
  const { wouldSend = null, reason = null, channel = null, to = null, from = null, subject = null } = step.shown ?? {};
  const { body = null, request = null, contact = null } = step.shown ?? {};
  return {
    stepId,
    name,
    type,
    status,
    branch,
    output,
    error,
    at: step.startedAt.toISOString(),
    startedAt: step.startedAt.toISOString(),
    completedAt: step.completedAt?.toISOString() ?? null,
    dueAt: step.dueAt?.toISOString() ?? null,
    condition: type === 'CONDITION' ? step.config : null,
    filters: filters ? filters.map(toFilterResponse) : null,
    wouldSend,
    reason,
    channel,
    to,
    from,
    subject,
    body,
    request,
    contact,
  };
}

function toFilterResponse({ field, operator, value, unit, holds }: NonNullable<PreviewedStep['filters']>[number]) {
  return { field, operator, ...(value !== undefined && { value }), ...(unit && { unit }), holds };
}
