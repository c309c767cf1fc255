import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { OPEN_CAMPAIGNS } from '../../db/schema/campaign-status.ts';

const POLL_MS = 1_000;

/** Counts the emails, SMS, executions, webhook deliveries and campaigns that have not ended, and the outbox rows. */
export async function countRunning(db: Db): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    SELECT (SELECT count(*) FROM outbox) AS "outbox rows",
      (SELECT count(*) FROM emails WHERE status IN ('PENDING', 'SENDING', 'HELD')) AS "emails not ended",
      (SELECT count(*) FROM sms_messages WHERE status = 'PENDING') AS "SMS not ended",
      (SELECT count(*) FROM executions WHERE status IN ('RUNNING', 'WAITING')) AS "executions not ended",
      (SELECT count(*) FROM webhook_deliveries WHERE status = 'PENDING') AS "webhooks not delivered",
      (SELECT count(*) FROM campaigns WHERE status IN ${OPEN_CAMPAIGNS}) AS "campaigns not ended"`.execute(db);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([what, count]) => [what, Number(count)]));
}

/** Waits until all work has ended, for at most `seconds`. Returns the number of unfinished items by kind. */
export async function waitUntilDrained(
  db: Db,
  countOpen: () => number,
  seconds: number,
): Promise<Record<string, number>> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const left = { ...(await countRunning(db)), 'requests without a response': countOpen() };
    if (Object.values(left).every((count) => count === 0) || performance.now() >= deadline) return left;
    await sleep(POLL_MS);
  }
}
