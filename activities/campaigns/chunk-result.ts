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
  /** The provider is away. */
  outage: boolean;
  /** Milliseconds until the chunk looks again whether its route takes email; undefined while it does. */
  routePausedMs?: number | undefined;
  hopeless: boolean;
  /** Milliseconds until the send rate, or the project's computing budget, allows more; undefined when it does now. */
  retryAfterMs: number | undefined;
  /** Rows were another attempt's. */
  fenced: boolean;
}

/** The result of a turn after which rows of its chunk are still to be sent: the first reason that holds. */
export function unfinishedResult(end: TurnEnd): ChunkTurnResult {
  const { sent, from } = end;
  const putOff = end.deferred > 0 || end.putOffBefore;
  const round = { sent, ...(from !== undefined && { from, putOff }) };
  if (end.stopped) return { outcome: 'stopped', ...round };
  if (end.blocked) return { outcome: 'blocked', ...round };
  // No attempt: the provider takes no email at all, so the chunk is not given up for it.
  if (end.routePausedMs !== undefined)
    return { outcome: 'paced', retryAfterMs: end.routePausedMs, fresh: true, ...round };
  if (end.outage) return { outcome: 'deferred', sent };
  if (end.hopeless) return { outcome: 'hopeless', ...round };
  if (end.retryAfterMs !== undefined) return { outcome: 'paced', retryAfterMs: end.retryAfterMs, ...round };
  if (end.fenced) return { outcome: 'more', sent };
  // Not even an answer: the provider hangs.
  if (end.heard === 0) return { outcome: 'deferred', sent };
  // The turn is over.
  if (from !== undefined) return { outcome: 'more', ...round };
  return { outcome: putOff ? 'deferred' : 'more', sent };
}
