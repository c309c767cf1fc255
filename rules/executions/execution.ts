import type { EffectType } from './steps/registry.ts';

/** The activities that move an execution. `ADVANCE` walks on where what follows a pause has no effect of its own. */
export type StepActivity = EffectType | 'ADVANCE';

export type ExecutionStatus = 'RUNNING' | 'WAITING' | 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED';
/** What became of a step that an execution has come to. */
export type VisitStatus = 'RUNNING' | 'WAITING' | 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'CANCELLED';

/**
 * Where an execution stands: all that its Temporal workflow knows. A visit numbers the steps that this contact has come
 * to; the database has the story of each (`execution_steps`). `then` is the activity that most likely follows a pause:
 * it looks again when it runs, so that a workflow edited meanwhile is followed as it is now, without an activity that
 * only looks.
 */
export type Next =
  | { kind: 'effect'; visit: number; activity: EffectType; label: string }
  | { kind: 'delay'; visit: number; dueAt: string; skipped?: true; then: StepActivity; label: string }
  | {
      kind: 'wait';
      visit: number;
      deadlineAt: string | null;
      skipped?: true;
      onEvent: StepActivity;
      onTimeout: StepActivity;
      label: string;
    }
  | ExecutionEnd;

/** How an execution ended. `reason` is a code of ours, or what an EXIT says. */
export interface ExecutionEnd {
  kind: 'end';
  status: ExecutionStatus;
  reason: string | null;
  /** No row says so: the activity turns it into an error, and no workflow sees it. */
  missing?: true;
}

/** How a pause ended: the timer of a DELAY, the event of a WAIT_FOR_EVENT, or its deadline. */
export type Resume = 'delay' | 'event' | 'timeout';

/** Input of every step activity. Running one twice is safe: what the visit has done is in the database. */
export interface StepInput {
  projectId: string;
  executionId: string;
  /** The visit that the workflow stands at; later in the database when an earlier attempt got further. */
  visit: number;
  /** Set when this visit is a pause that has ended. */
  resume?: Resume;
}

/** Input of the Temporal workflow `contactExecution`; also what it carries on with when it continues as new. */
export interface ExecutionInput {
  projectId: string;
  executionId: string;
  next: Next;
  /** Visits whose event has arrived. */
  satisfied?: number[];
}

/** What starts one: its input, and what an operator finds it by. */
export interface ExecutionStart extends ExecutionInput {
  workflowId: string;
  contactId: string;
  /** A FAILED one is taken up again: the run that Temporal has of it is over. */
  anew?: true;
}
