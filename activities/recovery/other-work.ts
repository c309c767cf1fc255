import {
  enqueueReleases,
  enqueueRestocks,
  listWaitingEndpoints,
  type WaitingEndpoint,
  wakeEndpoints,
} from '../../db/recovery/lost-work.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { isOpenStatus } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

const PAGE = 500;
/**
 * Deliveries that were terminated or timed out longer ago than this are not restarted. A round runs every few minutes,
 * so this covers even a whole day without a worker.
 */
const LOOK_BACK_MS = 24 * 3_600_000;

/** Wakes each webhook endpoint that has due deliveries and no running workflow. */
export async function recoverWebhooks(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const { db, lifecycle, outbox, log } = deps;
  let after = turn.cursor;
  for (;;) {
    const page: WaitingEndpoint[] = await listWaitingEndpoints(db, { after, settledMs: turn.settledMs, limit: PAGE });
    const last = await lifecycle.runs.findLast(page.map(({ id }) => lifecycle.names.webhooks(id)));
    const lost = page.filter(({ id }) => !isOpenStatus(last.get(lifecycle.names.webhooks(id))?.status));
    outbox.wake(await inTransaction(db, (trx) => wakeEndpoints(trx, lost)));
    for (const { projectId, id: endpointId } of lost)
      log.warn({ projectId, endpointId, done: 'started again' }, 'a webhook endpoint had no running workflow');
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE || after === null) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

/**
 * Restarts delivery workflows that an operator terminated or that timed out, because the service has promised to send
 * accepted messages.
 */
export async function restartUnfinishedDeliveries({ lifecycle, log }: RecoveryDeps): Promise<null> {
  const workflowIds = await lifecycle.restartUnfinishedDeliveries(new Date(Date.now() - LOOK_BACK_MS));
  for (const workflowId of workflowIds)
    log.warn({ workflowId, done: 'started again' }, 'a delivery was terminated or timed out');
  return null;
}

/**
 * Starts the release of held email for projects that are no longer on hold, if the workflow of the release was lost.
 */
export async function recoverHeldReleases(deps: RecoveryDeps, { messagesSince }: RecoveryTurn): Promise<null> {
  const queued = await inTransaction(deps.db, (trx) => enqueueReleases(trx, messagesSince));
  return wakeAndLog(deps, queued, 'held email was not released');
}

/** Starts the workflow that notifies contacts of a restock, if that workflow was lost. */
export async function recoverBackInStock(deps: RecoveryDeps): Promise<null> {
  const queued = await inTransaction(deps.db, (trx) => enqueueRestocks(trx));
  return wakeAndLog(deps, queued, 'contacts were not notified of a restock');
}

function wakeAndLog({ outbox, log }: RecoveryDeps, queued: OutboxRow[], what: string): null {
  outbox.wake(queued);
  for (const { projectId, refId } of queued) log.warn({ projectId, refId, done: 'started again' }, what);
  return null;
}
