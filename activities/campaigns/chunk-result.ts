import type { ChunkTurnResult } from './chunk-turn.ts';

/** The state of a turn at its end. */
interface TurnEnd {
  sent: number;
  /** Recipients with a result: a reply of the provider, or the decision that they get no email. */
  heard: number;
  deferred: number;
  /** The provider deferred emails of this round in earlier turns. */
  putOffBefore: boolean;
  /** The first row that this round has not reached; undefined when it has reached all, or when that is unknown. */
  from: string | undefined;
  stopped: boolean;
  blocked: boolean;
  /** The provider is down. */
  outage: boolean;
  /**
   * Milliseconds until the chunk checks again whether its route accepts email; undefined while the route accepts it.
   */
  routePausedMs?: number | undefined;
  hopeless: boolean;
  /**
   * Milliseconds until the send rate, or the project's computing budget, allows more; undefined when it allows more
   * now.
   */
  retryAfterMs: number | undefined;
  /** Another attempt has taken rows of this one. */
  fenced: boolean;
}

/** Returns the result of a turn that leaves rows of its chunk to be sent. The first reason that applies decides. */
export function unfinishedResult(end: TurnEnd): ChunkTurnResult {
  const { sent, from } = end;
  const putOff = end.deferred > 0 || end.putOffBefore;
  const round = { sent, ...(from !== undefined && { from, putOff }) };
  if (end.stopped) return { outcome: 'stopped', ...round };
  if (end.blocked) return { outcome: 'blocked', ...round };
  // This does not count as an attempt: the provider accepts no email at all, so the chunk is not given up.
  if (end.routePausedMs !== undefined)
    return { outcome: 'paced', retryAfterMs: end.routePausedMs, fresh: true, ...round };
  if (end.outage) return { outcome: 'deferred', sent };
  if (end.hopeless) return { outcome: 'hopeless', ...round };
  if (end.retryAfterMs !== undefined) return { outcome: 'paced', retryAfterMs: end.retryAfterMs, ...round };
  if (end.fenced) return { outcome: 'more', sent };
  // No reply came: the provider hangs.
  if (end.heard === 0) return { outcome: 'deferred', sent };
  // The turn is over.
  if (from !== undefined) return { outcome: 'more', ...round };
  return { outcome: putOff ? 'deferred' : 'more', sent };
}
