import { z } from '@hono/zod-openapi';
import type { Execution, ExecutionVisit } from '../../../db/executions/executions.ts';
import { type Listed, truncateLists } from '../../../db/page-budget.ts';
import { maskStepConfig } from '../../../db/workflows/step-secrets.ts';
import type { Step, Transition, Workflow, WorkflowDetail } from '../../../db/workflows/workflows.ts';
import { EXECUTION_STATUSES, VISIT_STATUSES } from '../../../rules/executions/execution.ts';
import { computeGraphVersion } from '../../../rules/executions/graph-version.ts';
import { STEP_TYPES } from '../../../rules/executions/steps/registry.ts';
import type { InstallationNames } from '../../../temporal/names.ts';
import { EXAMPLE_ID, Id, Instant, numberedListFields, Slug, Truncated, TruncatedLists } from '../../http/schemas.ts';

const AT = '2026-01-01T12:00:00.000Z';

const Json = z.record(z.string(), z.unknown());

export const TriggerType = z.enum(['EVENT', 'MANUAL']);

/** `yes`, `no`, `event`, `timeout`, or the name of a SPLIT branch. */
export const Branch = z.string().min(1).max(100);

export const StepTypeSchema = z.enum(STEP_TYPES).openapi('StepType');

export const ExecutionStatusSchema = z.enum(EXECUTION_STATUSES);

export const Position = z.object({ x: z.number(), y: z.number() });

const workflowExample = {
  id: EXAMPLE_ID,
  name: 'Welcome',
  slug: 'welcome',
  description: null,
  triggerType: 'EVENT' as const,
  eventName: 'signup',
  triggerConfig: { eventName: 'signup', includeAutomatic: false },
  enabled: true,
  allowReentry: false,
  reentryKey: null,
  entryStepId: EXAMPLE_ID,
  exitOn: [{ eventName: 'purchase' }],
  exitWhenUnsubscribed: false,
  includeAutomatic: false,
  createdAt: AT,
  updatedAt: AT,
};

export const WorkflowSchema = z
  .object({
    id: Id,
    name: z.string(),
    slug: Slug,
    description: z.string().nullable(),
    triggerType: TriggerType,
    eventName: z.string().nullable(),
    triggerConfig: z.object({ eventName: z.string().nullable(), includeAutomatic: z.boolean() }),
    includeAutomatic: z.boolean().openapi({
      description: 'Whether automatic emails, such as out-of-office replies, start executions.',
    }),
    enabled: z.boolean(),
    allowReentry: z.boolean(),
    reentryKey: z.string().nullable(),
    entryStepId: Id.nullable(),
    exitOn: z.array(
      z.object({ eventName: z.string(), filters: Json.optional(), includeAutomatic: z.boolean().optional() }),
    ),
    exitWhenUnsubscribed: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Workflow', { example: workflowExample });

const stepExample = {
  id: EXAMPLE_ID,
  type: 'DELAY' as const,
  name: 'A day later',
  slug: 'a-day-later',
  config: { amount: 1, unit: 'days' },
  templateId: null,
  position: { x: 0, y: 120 },
  createdAt: AT,
  updatedAt: AT,
};

export const StepSchema = z
  .object({
    id: Id,
    type: StepTypeSchema,
    name: z.string(),
    slug: z.string().openapi({ description: 'Identifies the step in files, within its workflow' }),
    config: Json,
    templateId: Id.nullable(),
    position: Position.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('WorkflowStep', { example: stepExample });

export const TransitionSchema = z
  .object({ id: Id, fromStepId: Id, toStepId: Id, branch: Branch.nullable() })
  .openapi('WorkflowTransition', {
    example: { id: EXAMPLE_ID, fromStepId: EXAMPLE_ID, toStepId: EXAMPLE_ID, branch: null },
  });

export const WorkflowDetailSchema = WorkflowSchema.extend({
  version: z.string().openapi({
    description: 'Version of the graph, for `PUT /workflows/{id}/graph`. It changes when steps or transitions change.',
  }),
  steps: z.array(StepSchema),
  transitions: z.array(TransitionSchema),
}).openapi('WorkflowDetail', {
  example: {
    ...workflowExample,
    version: 'q1Z0yQmYqv0m0Vd3i4XJ5g',
    steps: [stepExample],
    transitions: [{ id: EXAMPLE_ID, fromStepId: EXAMPLE_ID, toStepId: EXAMPLE_ID, branch: null }],
  },
});

const executionExample = {
  id: EXAMPLE_ID,
  workflowId: EXAMPLE_ID,
  contactId: EXAMPLE_ID,
  contactEmail: 'ada@example.com',
  status: 'WAITING' as const,
  currentStepId: EXAMPLE_ID,
  exitReason: null,
  error: null,
  context: {},
  event: { plan: 'pro' },
  eventName: 'signup',
  sandbox: false,
  startedAt: AT,
  completedAt: null,
  begun: true,
  temporal: { workflowId: `execution-3f9a1c07-${EXAMPLE_ID}`, runId: null, url: null },
};

export const ExecutionSchema = z
  .object({
    id: Id,
    workflowId: Id,
    contactId: Id,
    contactEmail: z.string().nullable().openapi({ description: 'Null after the contact is erased' }),
    status: ExecutionStatusSchema,
    currentStepId: Id.nullable(),
    exitReason: z.string().nullable(),
    error: z.string().nullable().openapi({
      description:
        'Why the execution is FAILED. `loop`: the execution returned to a step after less than 60 s of waiting, or reached its 1,001st step. `event_depth` can also be set on an execution that has not failed: one of its steps caused the tenth event in a chain of executions and events, and this event started nothing.',
    }),
    context: Json,
    event: Json,
    eventName: z.string().nullable(),
    sandbox: z
      .boolean()
      .openapi({ description: 'True for an execution that tests the workflow. Statistics do not count it.' }),
    startedAt: Instant,
    completedAt: Instant.nullable(),
    begun: z.boolean().openapi({
      description:
        'False while the execution waits in the outbox, because more executions were accepted than can be started at once. `steps` then shows at which step it will start.',
    }),
    temporal: z.object({
      workflowId: z.string(),
      runId: z.string().nullable(),
      url: z.string().nullable().openapi({
        description:
          "URL of the workflow in Temporal's UI. Only set in the response for a single execution, if `TEMPORAL_UI_URL` is set.",
      }),
    }),
  })
  .openapi('Execution', { example: executionExample });

export const ExecutionDetailSchema = ExecutionSchema.extend({
  truncated: TruncatedLists,
  steps: z.array(
    z.object({
      stepId: Id,
      type: StepTypeSchema,
      status: z.enum(VISIT_STATUSES),
      attempts: z.number().int(),
      startedAt: Instant,
      completedAt: Instant.nullable(),
      dueAt: Instant.nullable().openapi({
        description: 'When a DELAY ends, or a WAIT_FOR_EVENT times out.',
      }),
      output: Json.nullable(),
      error: z.string().nullable(),
    }),
  ),
}).openapi('ExecutionDetail', {
  example: {
    ...executionExample,
    steps: [
      {
        stepId: EXAMPLE_ID,
        type: 'DELAY',
        status: 'WAITING',
        attempts: 1,
        startedAt: AT,
        completedAt: null,
        dueAt: AT,
        output: null,
        error: null,
      },
    ],
  },
});

const ListedWorkflow = WorkflowSchema.extend({
  exitOn: WorkflowSchema.shape.exitOn.optional(),
  truncated: Truncated,
}).openapi('ListedWorkflow');

export const WorkflowList = z
  .object({ workflows: z.array(ListedWorkflow), data: z.array(ListedWorkflow), ...numberedListFields })
  .openapi('WorkflowList', {
    example: { workflows: [], data: [], page: 1, pageSize: 20, total: 0, totalPages: 0, cursor: null, hasMore: false },
  });

export function toWorkflowResponse(workflow: Workflow) {
  return {
    ...workflow,
    triggerConfig: { eventName: workflow.eventName, includeAutomatic: workflow.includeAutomatic },
    exitOn: workflow.exitOn.map(({ eventName, filters, includeAutomatic }) => ({
      eventName,
      ...(includeAutomatic !== undefined && { includeAutomatic }),
      ...(filters && { filters: { ...filters } }),
    })),
    createdAt: workflow.createdAt.toISOString(),
    updatedAt: workflow.updatedAt.toISOString(),
  };
}

/** Converts a workflow to its form in a list. A truncated workflow has no `exitOn`. */
export function toListedWorkflowResponse({ truncated, ...workflow }: Listed<Workflow>) {
  const { exitOn, ...response } = toWorkflowResponse(workflow);
  return truncated ? { ...response, truncated: true as const } : { ...response, exitOn };
}

export function toWorkflowDetailResponse(secretKey: string, detail: WorkflowDetail) {
  const { steps, transitions, ...workflow } = detail;
  return {
    ...toWorkflowResponse(workflow),
    version: computeGraphVersion(detail),
    steps: steps.map((step) => toStepResponse(secretKey, step)),
    transitions: transitions.map(toTransitionResponse),
  };
}

/** Converts a step to its response. Header values of a WEBHOOK step are secrets and are masked. */
export function toStepResponse(secretKey: string, step: Step) {
  return {
    ...step,
    config: maskStepConfig(secretKey, step),
    createdAt: step.createdAt.toISOString(),
    updatedAt: step.updatedAt.toISOString(),
  };
}

export function toTransitionResponse({ id, fromStepId, toStepId, branch }: Transition) {
  return { id, fromStepId, toStepId, branch };
}

/** The run of an execution in Temporal. A workflow id without a run id identifies only the current run. */
interface TemporalRun {
  runId: string | null;
  /** URL of the page in Temporal's UI. */
  url: string | null;
}

/** Returns the workflow id that an execution has in Temporal. */
type WorkflowNames = Pick<InstallationNames, 'execution'>;

const WITHOUT_RUN: TemporalRun = { runId: null, url: null };

/** Converts an execution to its response. Only the operation for a single execution passes its run in Temporal. */
export function toExecutionResponse(execution: Execution, names: WorkflowNames, temporal = WITHOUT_RUN) {
  const {
    id,
    workflowId,
    contactId,
    contactEmail,
    status,
    currentStepId,
    exitReason,
    error,
    context,
    event,
    eventName,
  } = execution;
  return {
    id,
    workflowId,
    contactId,
    contactEmail,
    status,
    currentStepId,
    exitReason,
    error,
    context,
    event,
    eventName,
    sandbox: execution.sandbox,
    startedAt: execution.startedAt.toISOString(),
    completedAt: execution.completedAt?.toISOString() ?? null,
    begun: execution.begun,
    temporal: { workflowId: names.execution(id), ...temporal },
  };
}

export function toExecutionDetailResponse(
  execution: Execution & { steps: ExecutionVisit[] },
  names: WorkflowNames,
  temporal = WITHOUT_RUN,
) {
  return {
    ...toExecutionResponse(execution, names, temporal),
    ...truncateLists({
      steps: execution.steps.map((visit) => ({
        ...visit,
        startedAt: visit.startedAt.toISOString(),
        completedAt: visit.completedAt?.toISOString() ?? null,
        dueAt: visit.dueAt?.toISOString() ?? null,
      })),
    }),
  };
}
