import type { Db, Trx } from '../../db/connection.ts';
import { getContactClock } from '../../db/contacts/clock.ts';
import { findTakenBranch } from '../../db/executions/visits.ts';
import type { GraphStep } from '../../db/workflows/graph.ts';
import type { Clock } from '../../rules/campaigns/gate.ts';
import type { Next } from '../../rules/executions/execution.ts';
import { awaitedBy, endOfPause, findExit, type Run, takeEvent } from '../../rules/executions/run.ts';
import { noteStepEmailSent } from '../sending/step-emails.ts';
import { conditionHolds } from './condition.ts';
import { withEnd, withoutTimer } from './next.ts';
import type { StandingExecution } from './standing.ts';
import { loadStepVariables, type StepVariables } from './variables.ts';
import { findMatchingEvent, type SoughtEvent, sway } from './waits.ts';
import type { WalkingExecution } from './walk.ts';
import { endWindowWait } from './window-waits.ts';

/**
 * So many steps of a sandbox with `skipDelays` follow each other as fast as they are done. Later ones wait a second
 * where they pause, so that no circle keeps a worker from the executions of others.
 */
const SKIPPED_AT_ONCE = 100;

/** How a pause ended. */
export interface PauseEnd {
  /** The event that ended a wait; undefined where its deadline did, and for a DELAY. */
  eventId: string | undefined;
  tookMs: number;
}

/**
 * All that a walk wants to know of what is around an execution. There is one walk: real executions, sandboxes and
 * previews differ by their world alone, and a step that needs the time, the contact or an event asks here for it, never
 * the clock or a table.
 */
export interface World {
  now(execution: WalkingExecution): Date;
  /** What a step can name. */
  loadVariables(execution: WalkingExecution): Promise<StepVariables>;
  /**
   * Whether a condition in the words of CONDITION steps holds. @throws AppError, ZodError where it cannot be evaluated
   */
  holds(execution: WalkingExecution, config: unknown): Promise<boolean>;
  /** The first event that a wait which begins now matches already. */
  findEvent(execution: WalkingExecution, wait: SoughtEvent): Promise<FoundEvent>;
  /** The branch that the contact has taken at this SPLIT before, in whichever execution. */
  findTakenBranch(execution: WalkingExecution, stepId: string): Promise<string | undefined>;
  /** The zones by which hours of the contact are meant. */
  getClock(execution: WalkingExecution): Promise<Clock>;
  /** The wait of a visit for the sending window is over. */
  endWindowWait(execution: WalkingExecution, visit: number): Promise<void>;
  /** Notes an email of a visit as sent, that the record has as open. */
  noteSent(execution: WalkingExecution, visit: number): Promise<void>;
  /** Notes that a stranger has let the execution past a wait. */
  noteSwayed(execution: WalkingExecution): Promise<void>;
  /** What Temporal has to wait for, where an execution comes to stand at a pause. */
  timed(execution: WalkingExecution, step: GraphStep, next: Next): Next;
  /**
   * The event of its own by which a run leaves its workflow in the pause at which it stands. Its time goes on to there.
   */
  findExit(execution: StandingExecution, step: GraphStep | undefined): { reason: string } | undefined;
  /** How the pause ended at which an execution stands; `known` is what Postgres says of it. */
  getPauseEnd(execution: WalkingExecution, step: GraphStep | undefined, known: PauseEnd): PauseEnd;
}

export type FoundEvent = { id: string; swayed: boolean } | undefined;

/**
 * The world as it is: Postgres and the clock, but what the run of a sandbox has of its own goes before. The caller
 * holds the contacts' locks.
 */
export function realWorld(trx: Trx): World {
  return {
    ...worldOfRuns(trx, Date.now),
    async findEvent(execution, wait) {
      return takeOwnEvent(execution, wait, this.now(execution)) ?? findMatchingEvent(trx, execution, wait);
    },
    endWindowWait: ({ projectId, id }, visit) => endWindowWait(trx, { projectId, executionId: id, visit }),
    noteSent: ({ projectId, id }, visit) => noteStepEmailSent(trx, { projectId, executionId: id, visit }),
    noteSwayed: ({ projectId, id }) => sway(trx, { projectId, executionIds: [id] }),
  };
}

/**
 * The world of previews, which write nothing: what happens in one is what its run says.
 * @param startMs when it begins; its time goes on by pauses alone
 */
export function previewWorld(db: Db, startMs: number): World {
  return {
    ...worldOfRuns(db, () => startMs),
    async findEvent(execution, wait) {
      return takeOwnEvent(execution, wait, this.now(execution));
    },
    async endWindowWait() {},
    async noteSent() {},
    async noteSwayed() {},
  };
}

function worldOfRuns(
  db: Db,
  clock: () => number,
): Omit<World, 'findEvent' | 'noteSent' | 'noteSwayed' | 'endWindowWait'> {
  return {
    now: ({ run }) => new Date(clock() + (run?.aheadMs ?? 0)),
    loadVariables: (execution) => loadStepVariables(db, execution),
    holds(execution, config) {
      return conditionHolds(db, { ...execution, config, now: this.now(execution) });
    },
    async getClock({ projectId, contactId, run }) {
      const clock = await getContactClock(db, { projectId, contactId });
      const own = run?.contact?.data;
      return own ? { ...clock, zone: typeof own.timezone === 'string' ? own.timezone : null } : clock;
    },
    findTakenBranch: (execution, stepId) => findTakenBranch(db, execution, stepId),
    timed({ run, exits, visit }, step, next) {
      if (!run) return next;
      const end = endOfPause(run, awaitedAt(step, run)).at;
      const at = findExit(run, exits, end)?.at ?? end;
      if (!at) return next;
      if (!run.skipDelays) return withEnd(next, new Date(at.getTime() - run.aheadMs));
      const ended = withEnd(next, new Date(clock()));
      return visit <= SKIPPED_AT_ONCE ? withoutTimer(ended) : ended;
    },
    findExit({ run, exits }, step) {
      const exit = run ? findExit(run, exits, endOfPause(run, awaitedAt(step, run)).at) : undefined;
      if (exit && run?.skipDelays) run.aheadMs = Math.max(run.aheadMs, exit.at.getTime() - clock());
      return exit;
    },
    getPauseEnd({ run }, step, known) {
      if (!run || known.eventId !== undefined) return known;
      const { at, event } = endOfPause(run, awaitedAt(step, run));
      if (!at) return known;
      if (event) event.used = true;
      if (run.skipDelays) run.aheadMs = Math.max(run.aheadMs, at.getTime() - clock());
      return { eventId: event?.id, tookMs: at.getTime() - Date.parse(run.since ?? at.toISOString()) };
    },
  };
}

function awaitedAt(step: GraphStep | undefined, run: Run) {
  return step?.type === 'WAIT_FOR_EVENT' ? awaitedBy(step.config, run) : undefined;
}

function takeOwnEvent(
  { run }: WalkingExecution,
  wait: Pick<SoughtEvent, 'eventName' | 'filters' | 'includeAutomatic' | 'since' | 'from'>,
  now: Date,
): FoundEvent {
  const event = run && takeEvent(run, wait, { since: wait.since ?? now, now, from: wait.from });
  return event ? { id: event.id, swayed: false } : undefined;
}
