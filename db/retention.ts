import { type RawBuilder, sql } from 'kysely';
import type { Retention } from '../rules/config.ts';
import type { Db } from './connection.ts';
import { firstIdAt } from './id-time.ts';

/** Rows a statement: none holds locks for long, and others' commits do not wait behind what it writes. */
const BATCH = 2_000;
/** Of a table and round; what is left waits for the next hour. */
const ROUND_MS = 3 * 60_000;
/** Before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Finds ids of one table to prune, in their order. */
interface Old {
  days: number;
  /** Selects `id`s over a cursor, older than the bound, oldest first; the caller adds a LIMIT. */
  select(after: string, cutoff: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Prunes the rows whose ids are in `old`. */
  prune: RawBuilder<unknown>;
}

/** Prunes what its retention is over for. May run at any time, again, and twice at once. */
export async function pruneExpired(db: Db, retention: Retention, options: { batch?: number } = {}): Promise<void> {
  const tables: Old[] = [
    {
      days: retention.webhookDeliveryDays,
      select: (after, cutoff) => sql`
        SELECT id FROM webhook_deliveries WHERE ${between(after, cutoff)} AND status <> 'PENDING' AND completed_at < ${cutoff}
        ORDER BY id`,
      prune: sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM old)`,
    },
    {
      days: retention.executionStepDays,
      // By the steps there are, not by all executions that ever ended. One that is cut in the middle goes whole.
      select: (after, cutoff) => sql`
        SELECT s.execution_id AS id FROM execution_steps s JOIN executions x ON x.id = s.execution_id
        WHERE ${between(after, cutoff, 's.execution_id')} AND x.completed_at < ${cutoff} ORDER BY s.execution_id`,
      prune: sql`DELETE FROM execution_steps WHERE execution_id IN (SELECT id FROM old)`,
    },
    {
      days: retention.eventDays,
      select: (after, cutoff) => sql`SELECT id FROM events WHERE ${between(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM events WHERE id IN (SELECT id FROM old)`,
    },
    {
      days: retention.eventDays,
      select: (after, cutoff) => sql`SELECT id FROM segment_member_changes WHERE ${between(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM segment_member_changes WHERE id IN (SELECT id FROM old)`,
    },
    {
      days: retention.jobDays,
      select: (after, cutoff) => sql`
        SELECT id FROM jobs WHERE ${between(after, cutoff)} AND completed_at < ${cutoff} ORDER BY id`,
      prune: sql`DELETE FROM jobs WHERE id IN (SELECT id FROM old)`,
    },
    {
      days: retention.auditLogDays,
      select: (after, cutoff) => sql`SELECT id FROM audit_log WHERE ${between(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM audit_log WHERE id IN (SELECT id FROM old)`,
    },
    {
      days: retention.requestLogDays,
      select: (after, cutoff) => sql`SELECT id FROM requests WHERE ${between(after, cutoff)} ORDER BY id`,
      prune: sql`DELETE FROM requests WHERE id IN (SELECT id FROM old)`,
    },
    {
      days: retention.attachmentDays,
      // All mails that carry one are made together with it. By the index emails_attachments, whose expression and
      // predicate are repeated here.
      select: (after, cutoff) => sql`
        SELECT a.id FROM attachments a WHERE a.size IS NULL AND ${between(after, cutoff, 'a.id')} AND NOT EXISTS (
          SELECT FROM emails e WHERE e.options ? 'attachmentIds' AND e.options->'attachmentIds' @> jsonb_build_array(a.id::text)
            AND (e.status IN ('PENDING', 'SENDING', 'HELD') OR coalesce(e.bounced_at, e.sent_at, e.created_at) >= ${cutoff}))
        ORDER BY a.id`,
      // Name, type and size stay, for the record of the mail.
      prune: sql`UPDATE attachments SET size = octet_length(content), content = '' WHERE id IN (SELECT id FROM old)`,
    },
  ];
  for (const table of tables) if (table.days > 0) await prune(db, table, options.batch ?? BATCH);
}

async function prune(db: Db, { days, select, prune }: Old, batch: number): Promise<void> {
  const cutoff = sql`(now() - make_interval(days => ${days}))`;
  const until = Date.now() + ROUND_MS;
  // Goes on behind what was looked at: what has to stay is not looked at again for each batch.
  for (let after = FIRST; Date.now() < until; ) {
    const { rows } = await sql<{ id: string; isFull: boolean }>`
      WITH old AS MATERIALIZED (${select(after, cutoff)} LIMIT ${batch}), pruned AS (${prune})
      SELECT id, (SELECT count(*) FROM old) = ${batch} AS "isFull" FROM old ORDER BY id DESC LIMIT 1
    `.execute(db);
    const [last] = rows;
    if (!last?.isFull) return;
    after = last.id;
  }
}

/** Ids are in the order of time, so the primary key finds the oldest. */
function between(after: string, cutoff: RawBuilder<unknown>, column = 'id'): RawBuilder<unknown> {
  return sql`${sql.ref(column)} > ${after}::uuid AND ${sql.ref(column)} < ${firstIdAt(cutoff)}`;
}
