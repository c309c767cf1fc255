import type { Db } from '../../db/connection.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { createMonthRowCreator } from '../../db/sending/monthly-usage.ts';
import { inTransaction, limitLockWaits } from '../../db/transaction.ts';
import { acceptBatch } from '../../engine/sending/accept-batch.ts';
import { acceptSends, type SendOutcome } from '../../engine/sending/accept-sends.ts';
import { isLargeEmail } from '../../rules/emails/large-email.ts';
import {
  type BatchResponse,
  listContactChanges,
  type SendBatch,
  type SendRequest,
  type SendResponse,
} from '../../rules/emails/send-request.ts';

/**
 * The number of concurrent transactions, not counting delayed transactions, which run longer than 50 ms
 * (db/group-commit.ts). One is built while the other commits. A third transaction did not improve throughput
 * (docs/decisions.md).
 */
const LANES = 2;
/** Maximum number of requests in one transaction. */
const BATCH_MAX = 64;
/**
 * While a transaction runs, a second one starts only if this many requests wait, or if the first is delayed. A
 * transaction costs about as much as 15 requests, so two half-empty transactions cost more than they save.
 */
const WORTH_A_LANE = 32;
/**
 * Time that a transaction with several projects may wait for a lock. After this time it is rolled back, and each
 * project gets a separate transaction, so that only the blocked project continues to wait.
 */
const SHARED_LOCK_WAIT_MS = 200;
/**
 * Maximum size of the requests in one transaction: the bytes of their attachments and the characters of their bodies. A
 * larger request gets a separate transaction. The limit bounds the memory and the size of a statement.
 */
const BATCH_MAX_BYTES = 20 * 1024 * 1024;

export interface SendAcceptor {
  /**
   * Accepts a request, and resolves after the commit.
   * @throws AppError if the request is refused; it then has no effect
   */
  accept(request: SendRequest): Promise<SendResponse>;
  /**
   * Accepts the emails of a batch in one transaction with the batch's idempotency key, and resolves after the commit.
   * @throws AppError if the whole batch is refused
   */
  acceptBatch(batch: SendBatch): Promise<BatchResponse>;
}

/**
 * Creates the acceptor. Concurrent requests share a transaction, also across projects. Each caller gets the response or
 * error of its own request.
 */
export function createSendAcceptor(deps: { db: Db; suppressionKey: Buffer; outbox: OutboxWaker }): SendAcceptor {
  const { suppressionKey } = deps;
  const createGroup = () =>
    createGroupCommit<SendRequest, SendOutcome>({
      lanes: LANES,
      max: BATCH_MAX,
      worthALane: WORTH_A_LANE,
      size: { of: measureSize, max: BATCH_MAX_BYTES },
      queueOf: () => 'sends',
      tenantOf: ({ projectId }) => projectId,
      // Requests with the same key must not share a transaction, so that the second request finds the key of the first.
      // Requests that change the same contact in different ways (`alikeBy`) must not share a transaction either. One
      // SQL statement writes the contacts of all requests, and it cannot make two changes to one row.
      apartBy: ({ projectId, idempotencyKey }) =>
        idempotencyKey === undefined ? [] : [`${projectId} key ${idempotencyKey}`],
      alikeBy: listContactChanges,
      commit: async (requests) => {
        const isShared = requests.some(({ projectId }) => projectId !== requests[0]?.projectId);
        const { outcomes, outbox } = await inTransaction(deps.db, async (trx) => {
          if (isShared) await limitLockWaits(trx, SHARED_LOCK_WAIT_MS);
          return acceptSends(trx, requests, { suppressionKey });
        });
        deps.outbox.wake(outbox);
        return outcomes;
      },
    });
  const group = createGroup();
  // Requests with large attachments have a separate group, because all requests of a transaction wait until the
  // transaction has written every attachment.
  const large = createGroup();
  // Each batch gets its own transaction, because it is as large as many requests. Projects take turns.
  const batches = createGroupCommit<SendBatch, BatchResponse>({
    lanes: LANES,
    max: 1,
    queueOf: ({ projectId }) => projectId,
    commit: async ([batch]) => {
      if (!batch) return [];
      const { response, outbox } = await inTransaction(deps.db, (trx) => acceptBatch(trx, batch, { suppressionKey }));
      deps.outbox.wake(outbox);
      return [response];
    },
  });
  const openMonth = createMonthRowCreator(deps.db);
  return {
    async acceptBatch(batch) {
      const live = batch.emails.find((one) => 'to' in one && one.mode === 'live');
      if (live && 'to' in live) await openMonth({ projectId: batch.projectId, limit: live.monthlyEmailLimit });
      return batches.add(batch);
    },
    async accept(request) {
      if (request.mode === 'live') await openMonth({ projectId: request.projectId, limit: request.monthlyEmailLimit });
      const outcome = await (isLargeEmail(countFileBytes(request)) ? large : group).add(request);
      if (outcome.outcome === 'refused') throw outcome.error;
      return outcome.response;
    },
  };
}

function measureSize(request: SendRequest): number {
  return countFileBytes(request) + (request.body?.length ?? 0);
}

function countFileBytes({ attachments }: SendRequest): number {
  return attachments.reduce((sum, { content }) => sum + content.byteLength, 0);
}
