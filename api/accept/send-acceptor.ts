import type { Db } from '../../db/connection.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import type { OutboxBell } from '../../db/outbox/outbox-bell.ts';
import { createMonthOpener } from '../../db/sending/monthly-usage.ts';
import { inTransaction, limitLockWaits } from '../../db/transaction.ts';
import { acceptBatch } from '../../engine/sending/accept-batch.ts';
import { acceptSends, type SendOutcome } from '../../engine/sending/accept-sends.ts';
import { isLargeMail } from '../../rules/emails/large-mail.ts';
import {
  type BatchResponse,
  contactChanges,
  type SendBatch,
  type SendRequest,
  type SendResponse,
} from '../../rules/emails/send-request.ts';

/**
 * Concurrent transactions: one is built while the other commits; a third gained nothing (docs/decisions.md).
 */
const LANES = 2;
/** Requests that share a transaction at most. */
const BATCH_MAX = 64;
/** A transaction costs about as much as 15 requests in it: two half-empty ones at a time cost more than they bring. */
const WORTH_A_LANE = 32;
/**
 * A transaction of several projects waits this long for a lock; then each project goes on alone, and only the one
 * concerned waits.
 */
const SHARED_LOCK_WAIT_MS = 200;
/** Limit of a batch with attachments, for the memory and the size of a statement. */
const BATCH_MAX_BYTES = 20 * 1024 * 1024;

export interface SendAcceptor {
  /** Accepts a request durably. @throws AppError by which it is refused; then it had no effect at all */
  accept(request: SendRequest): Promise<SendResponse>;
  /** Accepts the emails of a batch durably, with its key. @throws AppError by which the whole batch is refused */
  acceptBatch(batch: SendBatch): Promise<BatchResponse>;
}

/**
 * Requests that come at the same time share a transaction, of whatever projects. Each caller gets an answer or a
 * refusal of its own.
 */
export function createSendAcceptor(deps: { db: Db; suppressionKey: Buffer; outbox: OutboxBell }): SendAcceptor {
  const { suppressionKey } = deps;
  const newGroup = () =>
    createGroupCommit<SendRequest, SendOutcome>({
      lanes: LANES,
      max: BATCH_MAX,
      worthALane: WORTH_A_LANE,
      size: { of: sizeOf, max: BATCH_MAX_BYTES },
      queueOf: () => 'sends',
      tenantOf: ({ projectId }) => projectId,
      // The second of two requests with one key sees the first. One statement also cannot change a contact in two
      // ways.
      apartBy: ({ projectId, idempotencyKey }) =>
        idempotencyKey === undefined ? [] : [`${projectId} key ${idempotencyKey}`],
      alikeBy: contactChanges,
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
  const group = newGroup();
  // A separate group: requests in a transaction with megabytes wait until they are written, and so do requests
  // waiting for its lane.
  const large = newGroup();
  // A transaction each, since one is as large as many requests; projects take turns.
  const batches = createGroupCommit<SendBatch, BatchResponse>({
    lanes: LANES,
    max: 1,
    queueOf: ({ projectId }) => projectId,
    commit: async ([batch]) => {
      if (!batch) return [];
      const { answer, outbox } = await inTransaction(deps.db, (trx) => acceptBatch(trx, batch, { suppressionKey }));
      deps.outbox.wake(outbox);
      return [answer];
    },
  });
  const openMonth = createMonthOpener(deps.db);
  return {
    async acceptBatch(batch) {
      const limited = batch.emails.some((one) => 'to' in one && one.mode === 'live' && one.monthlyEmailLimit !== null);
      if (limited) await openMonth(batch.projectId);
      return batches.add(batch);
    },
    async accept(request) {
      if (request.mode === 'live' && request.monthlyEmailLimit !== null) await openMonth(request.projectId);
      const outcome = await (isLargeMail(fileBytes(request)) ? large : group).add(request);
      if (outcome.outcome === 'refused') throw outcome.error;
      return outcome.answer;
    },
  };
}

function sizeOf(request: SendRequest): number {
  return fileBytes(request) + (request.body?.length ?? 0);
}

function fileBytes({ attachments }: SendRequest): number {
  return attachments.reduce((sum, { content }) => sum + content.byteLength, 0);
}
