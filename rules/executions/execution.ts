import type { EffectType, StepType } from './steps/registry.ts';

/**
 * The activities that advance an execution. `ADVANCE` continues the execution after a pause if the next step has no
 * effect. `ADVANCE` also reads the position again when the workflow must check it.
 */
export type StepActivity = EffectType | 'ADVANCE';

export const EXECUTION_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const VISIT_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED'] as const;
/** The status of a visit. */
export type VisitStatus = (typeof VISIT_STATUSES)[number];

/**
 * The position of an execution, as its Temporal workflow stores it. `visit` is the number of the visit, counted over
 * all steps that the execution has reached. The table `execution_steps` has the details of each visit. `then` is the
 * activity that probably follows a pause. The activity in `then` reads the tenant's workflow when it runs, so an edited
 * workflow takes effect, and no separate activity has to read it first.
 */
export type Next =
  | ({ kind: 'effect'; activity: EffectType } & Position)
  | ({ kind: 'delay'; dueAt: string; skipped?: true; then: StepActivity; thenLabel?: string } & Position)
  | ({
      kind: 'wait';
      deadlineAt: string | null;
      skipped?: true;
      onEvent: StepActivity;
      onTimeout: StepActivity;
      eventLabel?: string;
      timeoutLabel?: string;
    } & Position)
  | ExecutionEnd;

/** How an execution ended. `reason` is a code of the service, or the reason of an EXIT step. */
export interface ExecutionEnd {
  kind: 'end';
  status: ExecutionStatus;
  reason: string | null;
  path?: PathEntry[];
  /**
   * True if the database has no row for the execution. The activity then throws an error, so a workflow never gets this
   * value.
   */
  missing?: true;
}

/** The step at which an execution is. `stepId` and `stepType` are absent in results of earlier versions. */
export interface Position {
  visit: number;
  label: string;
  stepId?: string;
  stepType?: StepType;
  path?: PathEntry[];
}

/**
 * A visit that ended before the current position, for the Temporal UI. `label` is absent if the Temporal workflow has
 * paused at the step, so it already has the label. `took` is the branch that the execution took, or says that the step
 * was skipped or failed.
 */
export interface PathEntry {
  visit: number;
  label?: string;
  took?: string;
}

/** How a pause ended: the timer of a DELAY, the event of a WAIT_FOR_EVENT, or its deadline. */
export type Resume = 'delay' | 'event' | 'timeout';

/**
 * The input of every step activity. An activity can safely run twice, because the database records the effects of the
 * visit.
 */
export interface StepInput {
  projectId: string;
  executionId: string;
  /**
   * The visit at which the Temporal workflow is. The database may be at a later visit, if an earlier attempt of the
   * activity succeeded there.
   */
  visit: number;
  /** How the pause of this visit ended. Absent if the visit is not a pause, or the pause has not ended. */
  resume?: Resume;
  /** The id of the step of this visit. Absent in workflows of earlier versions. */
  stepId?: string;
  /** When the pause of this visit ends, in ISO 8601. */
  dueAt?: string;
}

/** The input of the Temporal workflow `contactExecution`, also when it continues as a new run. */
export interface ExecutionInput {
  projectId: string;
  executionId: string;
  next: Next;
  /** The visits whose pause is over (`SatisfiedVisits`). */
  satisfied?: number[];
  /** The address of the execution in the dashboard, for the Temporal UI. */
  link?: string;
  /** The last visits, for the Temporal UI. */
  path?: ShownVisit[];
}

/** A visit in the Temporal UI. `at` is the time when the Temporal workflow was notified of the visit. */
export interface ShownVisit {
  visit: number;
  label: string;
  at: string;
  took?: string | undefined;
}

/** The data to start an execution in Temporal: the input of the workflow, and values for the search attributes. */
export interface ExecutionStart extends ExecutionInput {
  workflowId: string;
  contactId: string;
  /** Set to restart a FAILED execution, whose earlier Temporal run has ended. */
  anew?: true;
}
