import { setTimeout as sleep } from 'node:timers/promises';
import {
  endCancelledStepEmails,
  findOpenIds,
  listOpenMessages,
  type OpenMessage,
  requeueMessages,
  settleSent,
} from '../../db/recovery/lost-messages.ts';
import type { MessageKind } from '../../db/sending/direct-messages.ts';
import { inTransaction } from '../../db/transaction.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { DeliveryRun } from '../../temporal/deliveries.ts';
import { noteNotRecovered } from './not-recovered.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

/**
 * It takes Temporal up to this long to list a workflow after its start. Recovery reads the open messages first and then
 * waits this long. The list then contains every workflow that delivered one of these messages when it was read.
 */
const LISTED_AFTER_MS = 2_000;
/** The number of messages that one transaction queues again: as many as five delivery workflows deliver. */
const CHUNK = 1_000;
const KINDS = ['email', 'sms'] as const;

/**
 * Starts a new delivery for each open message that no running workflow delivers. If an ended workflow has sent the
 * message, because Postgres is older than Temporal, the message is recorded as sent instead. Running delivery workflows
 * with nothing left to send are cancelled. The search starts with the rows in Postgres, because Temporal does not know
 * about single messages.
 */
export async function recoverMessages(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const { messagesSince: since, settledMs } = turn;
  await endCancelledStepEmails(deps.db, since);
  for (const kind of KINDS) {
    const open = await listOpenMessages(deps.db, { kind, since, settledMs });
    if (open.length > 0) await sleep(LISTED_AFTER_MS);
    for (const [projectId, messages] of groupBy(open, (message) => message.projectId)) {
      await recover(deps, { kind, projectId, messages, since }).catch((error: unknown) =>
        noteNotRecovered(deps, { projectId, kind }, error),
      );
      if (!turn.mayContinue(kind)) return kind;
    }
    await cancelIdle(deps, kind, settledMs);
  }
  return null;
}

async function recover(
  { db, lifecycle, outbox, log }: RecoveryDeps,
  { kind, projectId, messages, since }: { kind: MessageKind; projectId: string; messages: OpenMessage[]; since: Date },
): Promise<void> {
  const running = await lifecycle.deliveries.listRunning({ kind, projectId });
  const delivering = new Set(running.flatMap(({ ids }) => ids));
  const lost = messages.filter(({ id }) => !delivering.has(id));
  if (lost.length === 0) return;
  const sent = new Set((await lifecycle.deliveries.listSent({ kind, projectId, since })).flatMap(({ ids }) => ids));
  const isSent = ({ id }: OpenMessage) => sent.has(id);
  const settled = await settleSent(db, { kind, projectId, messages: lost.filter(isSent) });
  if (settled > 0)
    log.warn(
      { projectId, kind, settled, done: 'noted as sent' },
      'Temporal has sent messages that the records had as open',
    );
  const unsent = lost.filter((message) => !isSent(message));
  let requeued = 0;
  for (let at = 0; at < unsent.length; at += CHUNK) {
    const chunk = { kind, projectId, messages: unsent.slice(at, at + CHUNK) };
    const queued = await inTransaction(db, (trx) => requeueMessages(trx, chunk));
    outbox.wake(queued);
    requeued += queued.length;
  }
  if (requeued > 0) log.warn({ projectId, kind, requeued, done: 'delivered anew' }, 'messages had no delivery');
}

/** Cancels delivery workflows that were started a while ago and have nothing left to send. */
async function cancelIdle({ db, lifecycle, log }: RecoveryDeps, kind: MessageKind, settledMs: number): Promise<void> {
  const startedBefore = new Date(Date.now() - settledMs);
  const running: DeliveryRun[] = await lifecycle.deliveries.listRunning({ kind, startedBefore });
  const open = await findOpenIds(db, { kind, ids: running.flatMap(({ ids }) => ids) });
  for (const { ids, ...run } of running) {
    if (ids.length === 0 || ids.some((id) => open.has(id))) continue;
    await lifecycle.runs.cancel({ ...run, reason: 'recovery' });
    log.warn({ ...run, kind, done: 'cancelled' }, 'a delivery had nothing left to send');
  }
}
