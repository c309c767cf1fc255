import type { Db } from '../../db/connection.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  type TrackOutcome,
  type TrackRequest,
  type TrackRequests,
  type TrackResponse,
  trackEvents,
} from '../../engine/events/track.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';

/**
 * The number of concurrent transactions, not counting delayed transactions, which run longer than 50 ms
 * (db/group-commit.ts). One is built while the other commits.
 */
const LANES = 2;
/** Maximum number of requests in one transaction. */
const BATCH_MAX = 64;
/**
 * While a transaction runs, a second one starts only if this many requests wait, or if the first is delayed. A
 * transaction costs about as much as 15 requests, so two half-empty transactions cost more than they save.
 */
const WORTH_A_LANE = 32;

/** One `POST /v1/track` and its caller. */
export type TrackedRequest = TrackRequest & Pick<TrackRequests, 'projectId' | 'untrusted' | 'mode'>;

export interface TrackAcceptor {
  /**
   * Records an event, and resolves after the commit.
   * @throws AppError if the event is refused; it then has no effect
   */
  accept(request: TrackedRequest): Promise<TrackResponse>;
}

/** Creates the acceptor. Concurrent requests of a project with the same mode and trust share a transaction. */
export function createTrackAcceptor(deps: { db: Db; suppressionKey: Buffer; outbox: OutboxWaker }): TrackAcceptor {
  async function commit(requests: TrackedRequest[]): Promise<TrackOutcome[]> {
    const [first] = requests;
    if (!first) return [];
    const { projectId, untrusted, mode } = first;
    const { outcomes, outbox } = await inTransaction(deps.db, (trx) =>
      trackEvents(trx, { projectId, untrusted, mode, requests, suppressionKey: deps.suppressionKey }),
    );
    deps.outbox.wake(outbox);
    return outcomes;
  }

  const group = createGroupCommit<TrackedRequest, TrackOutcome>({
    lanes: LANES,
    max: BATCH_MAX,
    worthALane: WORTH_A_LANE,
    queueOf: ({ projectId, untrusted, mode }) => `${projectId} ${untrusted} ${mode}`,
    // Two requests about the same contact do not share a transaction, because the events of a contact are recorded one
    // after the other. Neither do two requests with the same key, because the second must find the key of the first.
    apartBy: ({ email, idempotencyKey }) => [
      `contact ${normalizeEmail(email)}`,
      ...(idempotencyKey === undefined ? [] : [`key ${idempotencyKey}`]),
    ],
    commit,
  });

  return {
    async accept(request) {
      const outcome = await group.add(request);
      if (outcome.outcome === 'refused') throw outcome.error;
      return outcome.response;
    },
  };
}
