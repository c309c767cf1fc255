import { sql } from 'kysely';
import { GUARD_HOURS } from '../rules/emails/hold-guard.ts';
import { foldTouches } from './campaigns/touches.ts';
import type { Db } from './connection.ts';
import { removeErasedAttachments } from './contents/erased-attachments.ts';
import { removeErasedContents } from './contents/removal.ts';
import { PROVIDER_MESSAGE_DAYS } from './emails/provider-messages.ts';
import { foldVisitCounts } from './executions/step-stats.ts';
import { deletePassedTimerSeconds } from './executions/timer-seconds.ts';
import { IDEMPOTENCY_HOURS } from './idempotency-batch.ts';
import { deleteGoneProcesses } from './operator/processes.ts';

/** Rows a statement: an hour's worth goes in a few, and none holds locks for long. */
const BATCH = 10_000;
/** Statements a table and round; what is left waits for the next hour. */
const MAX_BATCHES = 500;
/** The development mailbox is for looking at, not for keeping. */
const CAPTURED_KEPT = 10_000;
const LOGIN_FAILURE_HOURS = 24;
/** Twice what the guards of a hold look at. */
const OUTCOME_HOURS = 2 * GUARD_HOURS;
/** A mailbox provider that nothing was sent to for so long has forgotten too. */
const WATCHED_DAYS = 30;
/** Longer than any workflow needs to hear that its record was deleted. */
const DELETED_DAYS = 7;

/**
 * Deletes expired idempotency keys and sessions, old login failures, counts of outcomes, ids of providers, the words
 * and files of erased mails and old captured mail, and adds up counts of visits and campaigns. May run at any time, and
 * again.
 */
export async function deleteExpired(db: Db): Promise<void> {
  await inBatches(db, 'idempotency_keys', sql`created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS})`);
  await inBatches(db, 'login_failures', sql`failed_at < now() - make_interval(hours => ${LOGIN_FAILURE_HOURS})`);
  await inBatches(db, 'send_outcomes', sql`hour < now() - make_interval(hours => ${OUTCOME_HOURS})`);
  await inBatches(db, 'provider_outcomes', sql`updated_at < now() - make_interval(days => ${WATCHED_DAYS})`);
  await inBatches(db, 'ses_messages', sql`created_at < now() - make_interval(days => ${PROVIDER_MESSAGE_DAYS})`);
  await inBatches(db, 'deleted_rows', sql`deleted_at < now() - make_interval(days => ${DELETED_DAYS})`);
  await inBatches(db, 'sessions', sql`expires_at < now()`);
  await deleteGoneProcesses(db);
  await deletePassedTimerSeconds(db);
  await foldVisitCounts(db);
  await foldTouches(db);
  await removeErasedContents(db);
  await removeErasedAttachments(db);
  for (const table of ['captured_emails', 'captured_sms']) {
    const oldest = sql`(SELECT id FROM ${sql.table(table)} ORDER BY id DESC OFFSET ${CAPTURED_KEPT} LIMIT 1)`;
    await inBatches(db, table, sql`id <= ${oldest}`);
  }
}

async function inBatches(db: Db, table: string, where: ReturnType<typeof sql>): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const { numAffectedRows } = await sql`
      DELETE FROM ${sql.table(table)} WHERE ctid IN (SELECT ctid FROM ${sql.table(table)} WHERE ${where} LIMIT ${BATCH})
    `.execute(db);
    if ((numAffectedRows ?? 0n) < BATCH) return;
  }
}
