import { setTimeout as sleep } from 'node:timers/promises';
import {
  endCancelledStepEmails,
  listOpenMessages,
  markMessagesSent,
  type OpenMessage,
  requeueMessages,
} from '../../db/recovery/lost-messages.ts';
import type { MessageKind } from '../../db/sending/direct-messages.ts';
import { inTransaction } from '../../db/transaction.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';
import { reportRecoveryFailure } from './recovery-failure.ts';

/**
 * A workflow appears in Temporal's list at most this long after its start. Recovery first reads the open messages and
 * then waits this long. Temporal's list then contains every workflow that was delivering one of these messages when
 * recovery read them.
 */
const LISTED_AFTER_MS = 2_000;
/** The number of messages that one transaction queues again. */
const CHUNK = 1_000;

/** Recovers emails; see `recoverMessages`. Ends the emails of cancelled steps first. */
export async function recoverEmails(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  if (turn.cursor === null) await endCancelledStepEmails(deps.db, turn.messagesSince);
  return recoverMessages(deps, turn, 'email');
}

/** Recovers SMS; see `recoverMessages`. This is a separate part, because many unsent emails must not delay SMS. */
export function recoverSms(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  return recoverMessages(deps, turn, 'sms');
}

/**
 * Starts a new delivery for each open message that no running workflow delivers. If an ended workflow has sent the
 * message, because Postgres is older than Temporal, the message is recorded as sent instead. The search starts with the
 * rows in Postgres, because Temporal does not know about single messages. The cursor is the last project of the turn,
 * so that a project with many deferred messages delays the others only once in a round.
 */
async function recoverMessages(deps: RecoveryDeps, turn: RecoveryTurn, kind: MessageKind): Promise<string | null> {
  const { messagesSince: since, settledMs, cursor } = turn;
  const openMessages = await listOpenMessages(deps.db, { kind, since, settledMs });
  if (openMessages.length > 0) await sleep(LISTED_AFTER_MS);
  const byProject = groupBy(openMessages, (message) => message.projectId);
  for (const projectId of [...byProject.keys()].filter((id) => cursor === null || id > cursor).sort()) {
    const messages = byProject.get(projectId) ?? [];
    await recoverOfProject(deps, { kind, projectId, messages, since }).catch((error: unknown) =>
      reportRecoveryFailure(deps, { projectId, kind }, error),
    );
    if (!turn.mayContinue(projectId)) return projectId;
  }
  return null;
}

async function recoverOfProject(
  { db, lifecycle, outbox, log }: RecoveryDeps,
  { kind, projectId, messages, since }: { kind: MessageKind; projectId: string; messages: OpenMessage[]; since: Date },
): Promise<void> {
  const running = await lifecycle.deliveries.listRunning({ kind, projectId });
  const delivering = new Set(running.flatMap(({ ids }) => ids));
  const undelivered = messages.filter(({ id }) => !delivering.has(id));
  if (undelivered.length === 0) return;
  const sentIds = new Set((await lifecycle.deliveries.listSent({ kind, projectId, since })).flatMap(({ ids }) => ids));
  const wasSent = ({ id }: OpenMessage) => sentIds.has(id);
  const settled = await markMessagesSent(db, { kind, projectId, messages: undelivered.filter(wasSent) });
  if (settled > 0)
    log.warn(
      { projectId, kind, settled, done: 'recorded as sent' },
      'workflows have sent messages that were still open in Postgres',
    );
  const unsent = undelivered.filter((message) => !wasSent(message));
  let requeued = 0;
  for (let at = 0; at < unsent.length; at += CHUNK) {
    const chunk = { kind, projectId, messages: unsent.slice(at, at + CHUNK) };
    const queued = await inTransaction(db, (trx) => requeueMessages(trx, chunk));
    outbox.wake(queued);
    requeued += queued.length;
  }
  if (requeued > 0) log.warn({ projectId, kind, requeued, done: 'queued again' }, 'messages had no delivery');
}
