import type { Db, Trx } from '../../db/connection.ts';
import { getContactTiming } from '../../db/contacts/clock.ts';
import { findTakenBranch } from '../../db/executions/visits.ts';
import type { GraphStep } from '../../db/workflows/graph.ts';
import type { RecipientTiming } from '../../rules/campaigns/gate.ts';
import type { Next } from '../../rules/executions/execution.ts';
import {
  findEndOfPause,
  findExit,
  readAwaitedEvent,
  type SandboxState,
  takeSandboxEvent,
} from '../../rules/executions/run.ts';
import { recordStepEmailSent } from '../sending/step-emails.ts';
import { isConditionMet } from './condition.ts';
import type { CurrentExecution } from './locked-executions.ts';
import { withoutTimer, withPauseEnd } from './next.ts';
import { loadStepVariables, type StepVariables } from './variables.ts';
import { findMatchingEvent, markExecutionsUntrusted, type SoughtEvent } from './waits.ts';
import type { WalkingExecution } from './walk.ts';
import { endWindowWait } from './window-waits.ts';

/**
 * The number of visits of a sandbox with `skipDelays` for which a pause takes no time. After that, each pause takes a
 * second. Without this limit, a sandbox of a workflow with a cycle would block its worker for other executions.
 */
const SKIPPED_AT_ONCE = 100;

/** How a pause ended. */
export interface PauseEnd {
  /** The event that ended a wait; undefined after its deadline and for a DELAY. */
  eventId: string | undefined;
  /** When that event was recorded, if known. */
  eventAt?: Date | undefined;
  tookMs: number;
}

/**
 * Everything that a walk reads besides the execution itself. Real executions, sandboxes and previews share the code of
 * the walk and differ only in their environment. The walk gets the time, the contact and events from the environment,
 * and never reads the clock or a table directly.
 */
export interface ExecutionEnvironment {
  now(execution: WalkingExecution): Date;
  /** Loads the variables that a step can use. */
  loadVariables(execution: WalkingExecution): Promise<StepVariables>;
  /**
   * Tells whether the condition of a CONDITION step matches the contact.
   * @throws AppError, ZodError when the condition cannot be evaluated
   */
  isConditionMet(execution: WalkingExecution, config: unknown): Promise<boolean>;
  /** Finds the first recorded event that matches a new wait. */
  findEvent(execution: WalkingExecution, wait: SoughtEvent): Promise<FoundEvent>;
  /** Finds the branch that the contact took at its last completed visit to this SPLIT, in any execution. */
  findTakenBranch(execution: WalkingExecution, stepId: string): Promise<string | undefined>;
  /** Reads the time zones of the contact and the project. */
  getTiming(execution: WalkingExecution): Promise<RecipientTiming>;
  /** Records that a visit no longer waits for the sending window. */
  endWindowWait(execution: WalkingExecution, visit: number): Promise<void>;
  /** Records the email of a visit as sent, if the email has no result yet. */
  noteSent(execution: WalkingExecution, visit: number): Promise<void>;
  /** Records that an event of an unauthenticated caller ended a wait of the execution. */
  noteUntrustedTrigger(execution: WalkingExecution): Promise<void>;
  /**
   * Returns `next` with the end that Temporal's timer must have. For real executions, `next` does not change. In a
   * sandbox, this end can differ from the stored end.
   */
  withSandboxTimer(execution: WalkingExecution, step: GraphStep, next: Next): Next;
  /**
   * Finds the exit of the workflow (`exitOn`) that an event of the sandbox triggers during its current pause. With
   * `skipDelays`, also advances the run's time to the time of that event. Undefined for real executions.
   */
  findExit(execution: CurrentExecution, step: GraphStep | undefined): { reason: string } | undefined;
  /**
   * Tells how the current pause of an execution ended. For a real execution, returns `known`, the end that Postgres
   * recorded. For a sandbox, computes the end from the state of the run, and with `skipDelays` advances the run's time.
   */
  getPauseEnd(execution: WalkingExecution, step: GraphStep | undefined, known: PauseEnd): PauseEnd;
}

export type FoundEvent = { id: string; untrustedTrigger: boolean } | undefined;

/**
 * Creates the environment of real executions and sandboxes. This environment reads Postgres and the clock. For a
 * sandbox, the state of the run (`execution.run`) overrides both. The caller has locked the contacts.
 */
export function createRealEnvironment(trx: Trx): ExecutionEnvironment {
  return {
    ...createCommonEnvironment(trx, Date.now),
    async findEvent(execution, wait) {
      return takeOwnEvent(execution, wait, this.now(execution)) ?? findMatchingEvent(trx, execution, wait);
    },
    endWindowWait: ({ projectId, id }, visit) => endWindowWait(trx, { projectId, executionId: id, visit }),
    noteSent: ({ projectId, id }, visit) => recordStepEmailSent(trx, { projectId, executionId: id, visit }),
    noteUntrustedTrigger: ({ projectId, id }) => markExecutionsUntrusted(trx, { projectId, executionIds: [id] }),
  };
}

/**
 * Creates the environment of previews, which write nothing. A wait finds only the events in the `run` of the preview,
 * never the recorded events of the contact.
 * @param startMs when the preview starts; its time advances only in pauses
 */
export function createPreviewEnvironment(db: Db, startMs: number): ExecutionEnvironment {
  return {
    ...createCommonEnvironment(db, () => startMs),
    async findEvent(execution, wait) {
      return takeOwnEvent(execution, wait, this.now(execution));
    },
    async endWindowWait() {},
    async noteSent() {},
    async noteUntrustedTrigger() {},
  };
}

function createCommonEnvironment(
  db: Db,
  clock: () => number,
): Omit<ExecutionEnvironment, 'findEvent' | 'noteSent' | 'noteUntrustedTrigger' | 'endWindowWait'> {
  return {
    now: ({ run }) => new Date(clock() + (run?.aheadMs ?? 0)),
    loadVariables: (execution) => loadStepVariables(db, execution),
    isConditionMet(execution, config) {
      return isConditionMet(db, { ...execution, config, now: this.now(execution) });
    },
    async getTiming({ projectId, contactId, run }) {
      const clock = await getContactTiming(db, { projectId, contactId });
      const runData = run?.contact?.data;
      return runData ? { ...clock, zone: typeof runData.timezone === 'string' ? runData.timezone : null } : clock;
    },
    findTakenBranch: (execution, stepId) => findTakenBranch(db, execution, stepId),
    withSandboxTimer({ run, exits, visit }, step, next) {
      if (!run) return next;
      const end = findEndOfPause(run, getAwaitedEvent(step, run)).at;
      const at = findExit(run, exits, end)?.at ?? end;
      if (!at) return next;
      if (!run.skipDelays) return withPauseEnd(next, new Date(at.getTime() - run.aheadMs));
      const ended = withPauseEnd(next, new Date(clock()));
      return visit <= SKIPPED_AT_ONCE ? withoutTimer(ended) : ended;
    },
    findExit({ run, exits }, step) {
      const exit = run ? findExit(run, exits, findEndOfPause(run, getAwaitedEvent(step, run)).at) : undefined;
      if (exit && run?.skipDelays) run.aheadMs = Math.max(run.aheadMs, exit.at.getTime() - clock());
      return exit;
    },
    getPauseEnd({ run }, step, known) {
      if (!run || known.eventId !== undefined) return known;
      const { at, event } = findEndOfPause(run, getAwaitedEvent(step, run));
      if (!at) return known;
      if (event) event.used = true;
      if (run.skipDelays) run.aheadMs = Math.max(run.aheadMs, at.getTime() - clock());
      return { eventId: event?.id, tookMs: at.getTime() - Date.parse(run.since ?? at.toISOString()) };
    },
  };
}

function getAwaitedEvent(step: GraphStep | undefined, run: SandboxState) {
  return step?.type === 'WAIT_FOR_EVENT' ? readAwaitedEvent(step.config, run) : undefined;
}

function takeOwnEvent(
  { run }: WalkingExecution,
  wait: Pick<SoughtEvent, 'eventName' | 'filters' | 'includeAutomatic' | 'since' | 'from'>,
  now: Date,
): FoundEvent {
  const event = run && takeSandboxEvent(run, wait, { since: wait.since ?? now, now, from: wait.from });
  return event ? { id: event.id, untrustedTrigger: false } : undefined;
}
