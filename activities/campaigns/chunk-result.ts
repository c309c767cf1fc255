import type { ChunkTurnResult } from './chunk-turn.ts';

/** The state of a turn at its end. */
interface TurnEnd {
  sent: number;
  /** The number of recipients with a result: a reply of the provider, or the decision to send no email. */
  resultCount: number;
  deferred: number;
  /** Whether the provider deferred emails of this round in earlier turns. */
  deferredBefore: boolean;
  /** The first row that this round has not reached. Undefined if it has reached all rows, or if this is unknown. */
  from: string | undefined;
  stopped: boolean;
  blocked: boolean;
  /** Whether the provider is down. */
  outage: boolean;
  /**
   * Milliseconds until the chunk checks again whether its route accepts email; undefined while the route accepts it.
   */
  routePausedMs?: number | undefined;
  hopeless: boolean;
  /**
   * Milliseconds until the send rate, or the project's computing budget, allows more emails. Undefined if it does now.
   */
  retryAfterMs: number | undefined;
  /** Whether another attempt has claimed rows of this one. */
  fenced: boolean;
}

/**
 * Returns the result of a turn after which some rows of the chunk are still to be sent. The first reason that applies
 * decides.
 */
export function unfinishedResult(end: TurnEnd): ChunkTurnResult {
  const { sent, from } = end;
  const putOff = end.deferred > 0 || end.deferredBefore;
  const round = { sent, ...(from !== undefined && { from, putOff }) };
  if (end.stopped) return { outcome: 'stopped', ...round };
  if (end.blocked) return { outcome: 'blocked', ...round };
  // This does not count as an attempt, because the provider accepts no email at all. The chunk therefore does not
  // expire.
  if (end.routePausedMs !== undefined)
    return { outcome: 'paced', retryAfterMs: end.routePausedMs, fresh: true, ...round };
  if (end.outage) return { outcome: 'deferred', sent };
  if (end.hopeless) return { outcome: 'hopeless', ...round };
  if (end.retryAfterMs !== undefined) return { outcome: 'paced', retryAfterMs: end.retryAfterMs, ...round };
  if (end.fenced) return { outcome: 'more', sent };
  // The provider did not reply to any email.
  if (end.resultCount === 0) return { outcome: 'deferred', sent };
  // The time of the turn is over.
  if (from !== undefined) return { outcome: 'more', ...round };
  return { outcome: putOff ? 'deferred' : 'more', sent };
}
