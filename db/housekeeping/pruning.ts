import { type RawBuilder, sql } from 'kysely';
import type { Retention } from '../../rules/config.ts';
import { GUARD_HOURS } from '../../rules/emails/hold-guard.ts';
import type { Db } from '../connection.ts';
import { removeErasedAttachments } from '../contents/erased-attachments.ts';
import { removeErasedContents } from '../contents/removal.ts';
import { PROVIDER_MESSAGE_DAYS } from '../emails/provider-messages.ts';
import { deletePassedTimerSeconds } from '../executions/timer-seconds.ts';
import { IDEMPOTENCY_HOURS } from '../idempotency-batch.ts';
import { deleteEndedProcesses } from '../operator/processes.ts';
import { listRetentionPrunings } from './retention.ts';

/** Rows per statement. The expired rows of an hour need a few statements, and no statement holds locks for long. */
const BATCH = 10_000;
/** Number of messages that the development mailbox keeps. */
const CAPTURED_KEPT = 10_000;
const LOGIN_FAILURE_HOURS = 24;
/** Twice the time span of bounces and complaints that decides about a hold (rules/emails/hold-guard.ts). */
const OUTCOME_HOURS = 2 * GUARD_HOURS;
/**
 * Days for which a project's last results at a mailbox provider are kept after the newest one. After this time without
 * email, the mailbox provider has no record of the sender any more.
 */
const WATCHED_DAYS = 30;
/**
 * Days for which the state of a deleted record is kept. The time is longer than any Temporal workflow needs to find out
 * that its record was deleted.
 */
const DELETED_DAYS = 7;
/** The cursor for tables without a cursor: each statement finds the remaining rows by its condition. */
const ANYWHERE = '';

export interface PruneBatches {
  /** The cursor at which earlier work stopped; null at the start. */
  after: string | null;
  /**
   * Called with the cursor between two statements.
   * @returns false when the time is over
   */
  mayContinue(after: string): boolean;
}

/**
 * Deletes expired rows of one table, or their content, in statements of limited size. Safe to run twice; may run at any
 * time, also concurrently.
 * @returns the cursor from which to continue, or null when no expired row is left
 */
export type Pruning = (db: Db, batches: PruneBatches) => Promise<string | null>;

/** Returns the pruning of each table, by a name that operators see. Tables whose rows are kept forever are absent. */
export function listPrunings(retention: Retention): Record<string, Pruning> {
  return {
    idempotency_keys: createDeletion('idempotency_keys', isOlderThan('created_at', { hours: IDEMPOTENCY_HOURS })),
    login_failures: createDeletion('login_failures', isOlderThan('failed_at', { hours: LOGIN_FAILURE_HOURS })),
    send_outcomes: createDeletion('send_outcomes', isOlderThan('hour', { hours: OUTCOME_HOURS })),
    provider_outcomes: createDeletion('provider_outcomes', isOlderThan('updated_at', { hours: 24 * WATCHED_DAYS })),
    ses_messages: createDeletion('ses_messages', isOlderThan('created_at', { hours: 24 * PROVIDER_MESSAGE_DAYS })),
    deleted_rows: createDeletion('deleted_rows', isOlderThan('deleted_at', { hours: 24 * DELETED_DAYS })),
    sessions: createDeletion('sessions', sql`expires_at < now()`),
    processes: pruneInOneCall(deleteEndedProcesses),
    timer_seconds: pruneInOneCall(deletePassedTimerSeconds),
    erased_contents: pruneInOneCall(removeErasedContents),
    erased_attachments: pruneInOneCall(removeErasedAttachments),
    captured_emails: createDeletion('captured_emails', isBeyondNewest('captured_emails')),
    captured_sms: createDeletion('captured_sms', isBeyondNewest('captured_sms')),
    ...listRetentionPrunings(retention),
  };
}

function createDeletion(table: string, where: RawBuilder<unknown>): Pruning {
  return async (db, { mayContinue }) => {
    while (true) {
      const { numAffectedRows } = await sql`
        DELETE FROM ${sql.table(table)} WHERE ctid IN (SELECT ctid FROM ${sql.table(table)} WHERE ${where} LIMIT ${BATCH})
      `.execute(db);
      if ((numAffectedRows ?? 0n) < BATCH) return null;
      if (!mayContinue(ANYWHERE)) return ANYWHERE;
    }
  };
}

/**
 * Wraps a function whose work is short: it has few rows to delete, or leaves some of them for the next round, an hour
 * later.
 */
function pruneInOneCall(work: (db: Db) => Promise<unknown>): Pruning {
  return async (db) => {
    await work(db);
    return null;
  };
}

function isOlderThan(column: string, { hours }: { hours: number }): RawBuilder<unknown> {
  return sql`${sql.ref(column)} < now() - make_interval(hours => ${hours})`;
}

function isBeyondNewest(table: string): RawBuilder<unknown> {
  return sql`id <= (SELECT id FROM ${sql.table(table)} ORDER BY id DESC OFFSET ${CAPTURED_KEPT} LIMIT 1)`;
}
