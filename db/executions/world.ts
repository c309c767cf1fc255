import type { Trx } from '../connection.ts';
import { conditionHolds } from './condition.ts';
import { loadStepVariables, type StepVariables } from './variables.ts';
import { findMatchingEvent, type NewWait, sway } from './waits.ts';
import type { WalkingExecution } from './walk.ts';

/** How a pause ended. */
export interface PauseEnd {
  /** The event that ended a wait; undefined where its deadline did, and for a DELAY. */
  eventId: string | undefined;
  tookMs: number;
}

/**
 * All that a walk wants to know of what is around an execution. There is one walk: real executions, sandboxes and previews differ by their world alone, and
 * a step that needs the time, the contact or an event asks here for it, never the clock or a table.
 */
export interface World {
  now(execution: WalkingExecution): Date;
  /** What a step can name. */
  loadVariables(execution: WalkingExecution): Promise<StepVariables>;
  /** Whether a condition in the words of CONDITION steps holds. @throws AppError, ZodError where it cannot be evaluated */
  holds(execution: WalkingExecution, config: unknown): Promise<boolean>;
  /** The first event that a wait which begins now matches already. */
  findEvent(
    execution: WalkingExecution,
    wait: Pick<NewWait, 'contactId' | 'eventName' | 'filters' | 'since'>,
  ): Promise<FoundEvent>;
  /** Notes that a stranger has let the execution past a wait. */
  noteSwayed(execution: WalkingExecution): Promise<void>;
}

export type FoundEvent = { id: string; swayed: boolean } | undefined;

/** The world as it is: Postgres and the clock. The caller holds the contacts' locks. */
export function realWorld(trx: Trx): World {
  return {
    now: () => new Date(),
    loadVariables: (execution) => loadStepVariables(trx, execution),
    holds: ({ projectId, contactId, event, context }, config) =>
      conditionHolds(trx, { projectId, contactId, event, context, config }),
    findEvent: ({ projectId }, wait) => findMatchingEvent(trx, projectId, wait),
    noteSwayed: ({ projectId, id }) => sway(trx, projectId, [id]),
  };
}
