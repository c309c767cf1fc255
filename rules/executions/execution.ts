import type { EffectType, StepType } from './steps/registry.ts';

/** The activities that move an execution. `ADVANCE` continues after a pause if the next step has no effect. */
export type StepActivity = EffectType | 'ADVANCE';

export const EXECUTION_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const VISIT_STATUSES = ['RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED'] as const;
/** Outcome of a step that an execution has reached. */
export type VisitStatus = (typeof VISIT_STATUSES)[number];

/**
 * Position of an execution: all that its Temporal workflow knows. A visit numbers the steps that this contact has
 * reached; the database has the details of each (`execution_steps`). `then` is the activity that most likely follows a
 * pause. The activity reads the workflow again when it runs. It therefore follows an edited workflow, and no separate
 * activity has to read it.
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

/** How an execution ended. `reason` is one of our codes, or the reason of an EXIT step. */
export interface ExecutionEnd {
  kind: 'end';
  status: ExecutionStatus;
  reason: string | null;
  path?: PathEntry[];
  /** True if no row records the end. The activity turns this into an error, so no workflow gets it. */
  missing?: true;
}

/** The step at which an execution is. Results of earlier versions contain only the label of the step. */
export interface Position {
  visit: number;
  label: string;
  stepId?: string;
  stepType?: StepType;
  path?: PathEntry[];
}

/**
 * A visit that ended before the current position, for the Temporal UI. `label` is absent if the workflow has paused at
 * the step and knows its label. `took` is the branch, or says that the step was skipped or failed.
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
  /** The visit that the workflow is at. The database is ahead if an earlier attempt got further. */
  visit: number;
  /** Set when this visit is a pause that has ended. */
  resume?: Resume;
  /** The step of this visit; absent from workflows of earlier versions. */
  stepId?: string;
  /** ISO 8601: when the current pause of this visit ends. */
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
  /** Set to restart a FAILED execution, whose Temporal run has ended. */
  anew?: true;
}
