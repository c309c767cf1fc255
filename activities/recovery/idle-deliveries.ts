import { findOpenMessageIds } from '../../db/recovery/lost-messages.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

/** The number of deliveries that are listed and compared with Postgres at a time. */
const PAGE = 200;
const TYPES = ['emailDelivery', 'smsDelivery'] as const;

/**
 * Cancels each running delivery workflow whose messages have all ended in Postgres. Skips workflows that started less
 * than `settledMs` ago. The cursor is Temporal's cursor of the next page.
 */
export async function cancelIdleDeliveries(
  { db, lifecycle, log }: RecoveryDeps,
  turn: RecoveryTurn,
): Promise<string | null> {
  const startedBefore = new Date(Date.now() - turn.settledMs);
  let { cursor } = turn;
  for (;;) {
    const page = await lifecycle.runs.listRunning({ types: TYPES, startedBefore, cursor, limit: PAGE });
    const deliveries = await lifecycle.deliveries.readMessageIds(page.runs);
    const open = await findOpenMessageIds(
      db,
      deliveries.flatMap(({ ids }) => ids),
    );
    for (const { workflowId, runId, ids } of deliveries) {
      if (ids.length === 0 || ids.some((id) => open.has(id))) continue;
      await lifecycle.runs.cancel({ workflowId, runId, reason: 'recovery' });
      log.warn({ workflowId, runId, done: 'cancelled' }, 'a delivery had nothing left to send');
    }
    cursor = page.next;
    if (cursor === null || !turn.mayContinue(cursor)) return cursor;
  }
}
