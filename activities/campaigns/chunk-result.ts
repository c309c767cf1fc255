import type { ChunkTurnResult } from './chunk-turn.ts';

/**
 * The state of a turn when it ends. A turn is one call that sends emails of a chunk for a limited time. A pass takes
 * the rows of the chunk once from the first to the last, in as many turns as it needs.
 */
interface TurnEnd {
  sent: number;
  /**
   * The number of recipients with a result of this turn: the attempt to send ended (with any outcome, also if the
   * provider was unreachable), or the service decided to send no email.
   */
  resultCount: number;
  deferred: number;
  /** Whether the provider deferred emails in earlier turns of this pass. */
  deferredBefore: boolean;
  /**
   * The id of the first row that this pass has not reached. Undefined if the pass has reached all rows, or if the row
   * is unknown.
   */
  from: string | undefined;
  isStopped: boolean;
  isBlocked: boolean;
  /** Whether the provider is down. */
  isProviderDown: boolean;
  /**
   * Milliseconds until the chunk checks again whether its route accepts email; undefined while the route accepts it.
   */
  routePausedMs?: number | undefined;
  isTooSlow: boolean;
  /**
   * Milliseconds until the send rate and the project's computing budget allow more emails. Undefined if they allow more
   * now.
   */
  retryAfterMs: number | undefined;
  /** Whether another attempt of this turn has claimed rows that this attempt had claimed. */
  hasLostRows: boolean;
}

/**
 * Returns the result of a turn after which some rows of the chunk are unsent. The order of the checks matters: the
 * first reason that applies decides.
 */
export function createUnfinishedResult(end: TurnEnd): ChunkTurnResult {
  const { sent, from } = end;
  const putOff = end.deferred > 0 || end.deferredBefore;
  const progress = { sent, ...(from !== undefined && { from, putOff }) };
  if (end.isStopped) return { outcome: 'stopped', ...progress };
  if (end.isBlocked) return { outcome: 'blocked', ...progress };
  // The wait for a paused route does not count as an attempt, because the provider accepts no email at all. The chunk
  // therefore does not expire.
  if (end.routePausedMs !== undefined)
    return { outcome: 'paced', retryAfterMs: end.routePausedMs, fresh: true, isRoutePaused: true, ...progress };
  if (end.isProviderDown) return { outcome: 'deferred', sent };
  if (end.isTooSlow) return { outcome: 'too_slow', ...progress };
  if (end.retryAfterMs !== undefined) return { outcome: 'paced', retryAfterMs: end.retryAfterMs, ...progress };
  if (end.hasLostRows) return { outcome: 'more', sent };
  // No recipient has a result.
  if (end.resultCount === 0) return { outcome: 'deferred', sent };
  // The time of the turn is over.
  if (from !== undefined) return { outcome: 'more', ...progress };
  return { outcome: putOff ? 'deferred' : 'more', sent };
}
