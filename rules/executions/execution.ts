import type { EffectType, StepType } from './steps/registry.ts';

/** The activities that move an execution. `ADVANCE` walks on where what follows a pause has no effect of its own. */
export type StepActivity = EffectType | 'ADVANCE';

export const EXECUTION_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const VISIT_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED'] as const;
/** Outcome of a step that an execution has reached. */
export type VisitStatus = (typeof VISIT_STATUSES)[number];

/**
 * Position of an execution: all that its Temporal workflow knows. A visit numbers the steps that this contact has
 * reached; the database has the details of each (`execution_steps`). `then` is the activity that most likely follows
 * a pause. It reads the workflow again when it runs, so an edited workflow is followed in its current form, without
 * an activity that only reads.
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

/** How an execution ended. `reason` is a code of ours, or what an EXIT says. */
export interface ExecutionEnd {
  kind: 'end';
  status: ExecutionStatus;
  reason: string | null;
  path?: PathEntry[];
  /** No row says so: the activity turns it into an error, and no workflow sees it. */
  missing?: true;
}

/** The step at which an execution stands. Answers of earlier versions have its label alone. */
export interface Position {
  visit: number;
  label: string;
  stepId?: string;
  stepType?: StepType;
  path?: PathEntry[];
}

/**
 * A visit that ended on the way to the current position, as the Temporal UI lists it. `label` is absent if the
 * workflow has paused at the step and knows it. `took` is the branch, or that the step was skipped or failed.
 */
export interface PathEntry {
  visit: number;
  label?: string;
  took?: string;
}

/** How a pause ended: the timer of a DELAY, the event of a WAIT_FOR_EVENT, or its deadline. */
export type Resume = 'delay' | 'event' | 'timeout';

/** Input of every step activity. Running it twice is safe, because the effects of the visit are in the database. */
export interface StepInput {
  projectId: string;
  executionId: string;
  /** The visit of the workflow. The database is ahead if an earlier attempt got further. */
  visit: number;
  /** Set when this visit is a pause that has ended. */
  resume?: Resume;
  /** The step of this visit; absent from workflows of earlier versions. */
  stepId?: string;
  /** ISO 8601: when the pause of this visit ends, which has not ended. */
  dueAt?: string;
}

/** Input of the Temporal workflow `contactExecution`, also when it continues as new. */
export interface ExecutionInput {
  projectId: string;
  executionId: string;
  next: Next;
  /** Visits whose event has arrived. */
  satisfied?: number[];
  /** The address of the run in the dashboard, for the Temporal UI. */
  link?: string;
  /** The last visits, for the Temporal UI. */
  path?: ShownVisit[];
}

/** A visit in the Temporal UI; `at` is when the workflow learned of it. */
export interface ShownVisit {
  visit: number;
  label: string;
  at: string;
  took?: string | undefined;
}

/** Start of an execution: its input, and the search attributes for operators. */
export interface ExecutionStart extends ExecutionInput {
  workflowId: string;
  contactId: string;
  /** Restarts a FAILED execution, whose Temporal run is over. */
  anew?: true;
}
