import { setTimeout as sleep } from 'node:timers/promises';
import {
  endCancelledStepMails,
  listOpenMessages,
  type OpenMessage,
  requeueMessages,
} from '../../db/recovery/lost-messages.ts';
import type { MessageKind } from '../../db/sending/direct-messages.ts';
import { inTransaction } from '../../db/transaction.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { ActivityDeps } from '../deps.ts';

type Deps = Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>;

/** Temporal lists a workflow this long after its start, so whoever had a message when it was read is on the list. */
const LISTED_AFTER_MS = 2_000;
/** Messages a transaction: as many as five delivery workflows take. */
const CHUNK = 1_000;

/**
 * Gives messages a new delivery that Temporal has lost theirs of. They are found by their rows, since Temporal knows
 * nothing of them; a message that any running delivery has is left to it. What a cancelled execution was about to send
 * has ended with it.
 */
export async function recoverMessages(deps: Deps, since: Date): Promise<void> {
  await endCancelledStepMails(deps.db, since);
  for (const kind of ['email', 'sms'] as const) {
    const open = await listOpenMessages(deps.db, { kind, since });
    if (open.length > 0) await sleep(LISTED_AFTER_MS);
    for (const [projectId, messages] of groupBy(open, (message) => message.projectId)) {
      await recover(deps, { kind, projectId, messages });
    }
  }
}

async function recover(
  { db, lifecycle, log }: Deps,
  { kind, projectId, messages }: { kind: MessageKind; projectId: string; messages: OpenMessage[] },
): Promise<void> {
  const delivering = await lifecycle.findMessagesInDelivery({ kind, projectId });
  const lost = messages.filter(({ id }) => !delivering.has(id));
  let requeued = 0;
  for (let at = 0; at < lost.length; at += CHUNK) {
    const chunk = { kind, projectId, messages: lost.slice(at, at + CHUNK) };
    const outbox = await inTransaction(db, (trx) => requeueMessages(trx, chunk));
    lifecycle.dispatch(outbox);
    requeued += outbox.length;
  }
  if (requeued > 0) log.warn({ projectId, kind, requeued }, 'messages had no delivery');
}
