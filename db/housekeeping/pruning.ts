import { type RawBuilder, sql } from 'kysely';
import type { Retention } from '../../rules/config.ts';
import { GUARD_HOURS } from '../../rules/emails/hold-guard.ts';
import type { Db } from '../connection.ts';
import { removeErasedAttachments } from '../contents/erased-attachments.ts';
import { removeErasedContents } from '../contents/removal.ts';
import { PROVIDER_MESSAGE_DAYS } from '../emails/provider-messages.ts';
import { deletePassedTimerSeconds } from '../executions/timer-seconds.ts';
import { IDEMPOTENCY_HOURS } from '../idempotency-batch.ts';
import { deleteGoneProcesses } from '../operator/processes.ts';
import { retentionPrunings } from './retention.ts';

/** Rows a statement: an hour's worth goes in a few, and none holds locks for long. */
const BATCH = 10_000;
/** The development mailbox is for looking at, not for keeping. */
const CAPTURED_KEPT = 10_000;
const LOGIN_FAILURE_HOURS = 24;
/** Twice what the guards of a hold look at. */
const OUTCOME_HOURS = 2 * GUARD_HOURS;
/** A mailbox provider without email for this time has dropped its record of the sender too. */
const WATCHED_DAYS = 30;
/** Longer than any workflow needs to hear that its record was deleted. */
const DELETED_DAYS = 7;
/** The cursor of a table whose next statement finds the rows that are left without one. */
const ANYWHERE = '';

export interface PruneBatches {
  /** The cursor at which an earlier attempt stopped; null is the start. */
  after: string | null;
  /** Called between two statements with the cursor. @returns false when the time is over */
  goOn(after: string): boolean;
}

/**
 * Deletes what has outlived its use in one table, in statements of bounded size. May run at any time, again, and
 * concurrently.
 * @returns the cursor from which to continue, or null when nothing is left
 */
export type Pruning = (db: Db, batches: PruneBatches) => Promise<string | null>;

/** How each table is pruned, by a name that operators read. Tables that keep their rows forever are not listed. */
export function listPrunings(retention: Retention): Record<string, Pruning> {
  return {
    idempotency_keys: deleting('idempotency_keys', olderThan('created_at', { hours: IDEMPOTENCY_HOURS })),
    login_failures: deleting('login_failures', olderThan('failed_at', { hours: LOGIN_FAILURE_HOURS })),
    send_outcomes: deleting('send_outcomes', olderThan('hour', { hours: OUTCOME_HOURS })),
    provider_outcomes: deleting('provider_outcomes', olderThan('updated_at', { hours: 24 * WATCHED_DAYS })),
    ses_messages: deleting('ses_messages', olderThan('created_at', { hours: 24 * PROVIDER_MESSAGE_DAYS })),
    deleted_rows: deleting('deleted_rows', olderThan('deleted_at', { hours: 24 * DELETED_DAYS })),
    sessions: deleting('sessions', sql`expires_at < now()`),
    processes: inOneGo(deleteGoneProcesses),
    timer_seconds: inOneGo(deletePassedTimerSeconds),
    erased_contents: inOneGo(removeErasedContents),
    erased_attachments: inOneGo(removeErasedAttachments),
    captured_emails: deleting('captured_emails', beyondNewest('captured_emails')),
    captured_sms: deleting('captured_sms', beyondNewest('captured_sms')),
    ...retentionPrunings(retention),
  };
}

function deleting(table: string, where: RawBuilder<unknown>): Pruning {
  return async (db, { goOn }) => {
    while (true) {
      const { numAffectedRows } = await sql`
        DELETE FROM ${sql.table(table)} WHERE ctid IN (SELECT ctid FROM ${sql.table(table)} WHERE ${where} LIMIT ${BATCH})
      `.execute(db);
      if ((numAffectedRows ?? 0n) < BATCH) return null;
      if (!goOn(ANYWHERE)) return ANYWHERE;
    }
  };
}

/** Work that bounds itself, and whose rest waits for the next hour. */
function inOneGo(work: (db: Db) => Promise<unknown>): Pruning {
  return async (db) => {
    await work(db);
    return null;
  };
}

function olderThan(column: string, { hours }: { hours: number }): RawBuilder<unknown> {
  return sql`${sql.ref(column)} < now() - make_interval(hours => ${hours})`;
}

function beyondNewest(table: string): RawBuilder<unknown> {
  return sql`id <= (SELECT id FROM ${sql.table(table)} ORDER BY id DESC OFFSET ${CAPTURED_KEPT} LIMIT 1)`;
}
