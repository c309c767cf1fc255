import { type RawBuilder, sql } from 'kysely';
import type { Retention } from '../../rules/config.ts';
import type { Db } from '../connection.ts';
import { firstUncountedEventIdSql } from '../events/email-hours.ts';
import { firstIdAtSql } from '../id-time.ts';
import type { Pruning } from './pruning.ts';

/**
 * Rows per statement. The number is small, so that no statement holds locks for long or delays other commits by its
 * writes.
 */
const BATCH = 2_000;
/** An id that is lower than all others. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Defines how the old rows of one table are found and pruned. */
interface RetentionRule {
  days: number;
  /**
   * Builds the query for `id`s that are greater than a cursor and older than the limit, oldest first. The caller adds a
   * LIMIT.
   */
  select(after: string, cutoff: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The statement that prunes the rows whose ids are in the CTE `old`. */
  prune: RawBuilder<unknown>;
}

/**
 * Minimum time for which attachments of received emails are kept, even if attachments of sent emails are kept for a
 * shorter time. Source: contract §9.21 Attachments.
 */
const RECEIVED_FILES_KEPT = sql`interval '30 days'`;

/**
 * Returns the pruning of tables whose rows are kept for a number of days. A number of 0 means forever, and the table is
 * absent.
 */
export function listRetentionPrunings(retention: Retention, batch = BATCH): Record<string, Pruning> {
  const tables: Record<string, RetentionRule> = {
    webhook_deliveries: {
      days: retention.webhookDeliveryDays,
      select: (after, cutoff) => sql`
        SELECT id FROM webhook_deliveries WHERE ${isInIdRange(after, cutoff)} AND status <> 'PENDING' AND completed_at < ${cutoff}
        ORDER BY id`,
      prune: sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM old)`,
    },
    execution_steps: {
      days: retention.executionStepDays,
      // Reads only the existing steps, not all executions that have ever ended. If a batch ends in the middle of an
      // execution, all steps of that execution are deleted.
      select: (after, cutoff) => sql`
        SELECT s.execution_id AS id FROM execution_steps s JOIN executions x ON x.id = s.execution_id
        WHERE ${isInIdRange(after, cutoff, 's.execution_id')} AND x.completed_at < ${cutoff} ORDER BY s.execution_id`,
      prune: sql`DELETE FROM execution_steps WHERE execution_id IN (SELECT id FROM old)`,
    },
    events: {
      days: retention.eventDays,
      // Keeps events of hours whose counts are not stored in `mail_hours` yet, because the counts are computed from the
      // events.
      select: (after, cutoff) => sql`
        SELECT id FROM events WHERE ${isInIdRange(after, cutoff)} AND id < ${firstUncountedEventIdSql()} ORDER BY id`,
      prune: sql`DELETE FROM events WHERE id IN (SELECT id FROM old)`,
    },
    segment_member_changes: {
      days: retention.eventDays,
      select: (after, cutoff) =>
        sql`SELECT id FROM segment_member_changes WHERE ${isInIdRange(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM segment_member_changes WHERE id IN (SELECT id FROM old)`,
    },
    jobs: {
      days: retention.jobDays,
      select: (after, cutoff) => sql`
        SELECT id FROM jobs WHERE ${isInIdRange(after, cutoff)} AND completed_at < ${cutoff} ORDER BY id`,
      prune: sql`DELETE FROM jobs WHERE id IN (SELECT id FROM old)`,
    },
    audit_log: {
      days: retention.auditLogDays,
      select: (after, cutoff) => sql`SELECT id FROM audit_log WHERE ${isInIdRange(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM audit_log WHERE id IN (SELECT id FROM old)`,
    },
    requests: {
      days: retention.requestLogDays,
      select: (after, cutoff) => sql`SELECT id FROM requests WHERE ${isInIdRange(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM requests WHERE id IN (SELECT id FROM old)`,
    },
    attachments: {
      days: retention.attachmentDays,
      // Checks all emails with the attachment, which are always inserted together with it. The query repeats the
      // expression and predicate of the index `emails_attachments`, so that Postgres uses the index.
      select: (after, cutoff) => sql`
        SELECT a.id FROM attachments a WHERE a.size IS NULL AND ${isInIdRange(after, cutoff, 'a.id')} AND NOT EXISTS (
          SELECT FROM emails e WHERE e.options ? 'attachmentIds' AND e.options->'attachmentIds' @> jsonb_build_array(a.id::text)
            AND (e.status IN ('PENDING', 'SENDING', 'HELD') OR coalesce(e.bounced_at, e.sent_at, e.created_at) >= ${cutoff}
              OR e.source_type = 'INBOUND' AND e.created_at >= now() - ${RECEIVED_FILES_KEPT}))
        ORDER BY a.id`,
      // Keeps name, type and size, because the dashboard shows them with the email.
      prune: sql`UPDATE attachments SET size = octet_length(content), content = '' WHERE id IN (SELECT id FROM old)`,
    },
  };
  const kept = Object.entries(tables).filter(([, { days }]) => days > 0);
  return Object.fromEntries(kept.map(([name, table]) => [name, createPruning(table, batch)]));
}

function createPruning({ days, select, prune }: RetentionRule, batch: number): Pruning {
  const cutoff = sql`(now() - make_interval(days => ${days}))`;
  return async (db: Db, batches) => {
    // Each query starts after the last pruned id, so that it does not read the kept rows before this id again.
    for (let after = batches.after ?? FIRST; ; ) {
      const { rows } = await sql<{ id: string; isFull: boolean }>`
        WITH old AS MATERIALIZED (${select(after, cutoff)} LIMIT ${batch}), pruned AS (${prune})
        SELECT id, (SELECT count(*) FROM old) = ${batch} AS "isFull" FROM old ORDER BY id DESC LIMIT 1
      `.execute(db);
      const [last] = rows;
      if (!last?.isFull) return null;
      after = last.id;
      if (!batches.mayContinue(after)) return after;
    }
  };
}

/** Ids are in the order of time, so the primary key finds the oldest rows. */
function isInIdRange(after: string, cutoff: RawBuilder<unknown>, column = 'id'): RawBuilder<unknown> {
  return sql`${sql.ref(column)} > ${after}::uuid AND ${sql.ref(column)} < ${firstIdAtSql(cutoff)}`;
}
