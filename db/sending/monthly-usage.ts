import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { firstIdAtSql } from '../id-time.ts';
import { isSimulatorSql } from './simulator-addresses.ts';

const MONTH = sql`date_trunc('month', now() AT TIME ZONE 'UTC')::date`;
/** SQL for the lowest id of the current month, so that the index on project and id finds the month's emails. */
const FIRST_ID = firstIdAtSql(sql`${MONTH}::timestamp AT TIME ZONE 'UTC'`);

/**
 * Counts `n` live emails toward the project's limit for this calendar month (UTC). If the limit does not allow all of
 * them, counts none and returns false. Without a limit (null), nothing is counted. The first call after a limit was set
 * also counts the month's earlier emails. Callers never pass test email.
 */
export async function takeMonthlyAllowance(
  db: Db,
  p: { projectId: string; n: number; limit: number | null },
): Promise<boolean> {
  if (p.limit === null || p.n === 0) return true;
  if (p.n > p.limit) return false;
  await createMonthRow(db, p.projectId);
  const result = await sql`
    UPDATE monthly_usage SET emails = emails + ${p.n}
    WHERE project_id = ${p.projectId} AND month = ${MONTH} AND emails + ${p.n} <= ${p.limit}
  `.execute(db);
  return (result.numAffectedRows ?? 0n) > 0n;
}

/**
 * SQL condition that a row of `emails` of a campaign was never counted: the transaction that stored the audience skipped
 * the recipient, or the monthly limit refused it. Recipients who were skipped later have been counted. `failed_at` is
 * null for emails that failed before this column existed; recipients without an attempt are then not counted.
 */
const IS_SKIPPED_AT_ONCE = sql<SqlBool>`
  source_type = 'CAMPAIGN' AND status = 'FAILED' AND attempts = 0 AND coalesce(failed_at, created_at) = created_at`;
/**
 * SQL condition that a row of `emails` of a workflow was never counted. Such an email is counted at its first attempt,
 * just before it is sent, and the claim has already raised `attempts` then. An email that was withheld before its first
 * attempt has no error. A deferred or refused email has the provider's reply as its error.
 */
const IS_NOT_YET_COUNTED = sql<SqlBool>`
  source_type = 'WORKFLOW' AND sent_at IS NULL AND (attempts = 0 OR attempts = 1 AND (
    status IN ('SENDING', 'FAILED') AND error IS NULL OR reason IS NOT DISTINCT FROM 'template_error'))`;

/**
 * Returns SQL for the number of a project's emails in this month that count toward a limit. The number is the same as if
 * each email had been counted when it was accepted or sent. Reads all emails of the month.
 */
export function countMonthEmailsSql(projectId: string): RawBuilder<number> {
  return sql<number>`(
    SELECT count(*) FROM emails
    WHERE project_id = ${projectId} AND mode = 'live' AND source_type <> 'INBOUND' AND id >= ${FIRST_ID}
      AND NOT simulated AND NOT ${isSimulatorSql(sql`to_email`)}
      AND NOT (${IS_SKIPPED_AT_ONCE}) AND NOT (${IS_NOT_YET_COUNTED}))`;
}

/**
 * Creates the month's row with the number of emails so far, if the row is missing. Afterwards, each send only adds to
 * this row.
 */
export async function createMonthRow(db: Db, projectId: string): Promise<void> {
  await sql`
    INSERT INTO monthly_usage (project_id, month, emails)
    SELECT ${projectId}, ${MONTH}, ${countMonthEmailsSql(projectId)}
    WHERE NOT EXISTS (SELECT FROM monthly_usage WHERE project_id = ${projectId} AND month = ${MONTH})
    ON CONFLICT DO NOTHING
  `.execute(db);
}

/**
 * Deletes the month's row if a project without a monthly limit gets one, because nothing was counted without a limit.
 * The next email counts the month's emails again. The row is not deleted when the limit is removed: a transaction that
 * has read the earlier limit could create the row again, and emails after that would be missing.
 */
export async function deleteOutdatedMonthRow(
  trx: Trx,
  p: { projectId: string; limitBefore: number | null; limit: number | null },
): Promise<void> {
  if (p.limitBefore !== null || p.limit === null) return;
  await sql`DELETE FROM monthly_usage WHERE project_id = ${p.projectId} AND month = ${MONTH}`.execute(trx);
}

/**
 * Maximum number of projects in a process's cache. Each needs about 100 bytes. When the maximum is reached, the process
 * clears the cache, and queries Postgres again for each project.
 */
const OPENED_MAX = 10_000;

/**
 * Returns a function that creates a project's row for the month, unless the project has no limit (null). If a limit is
 * set late in the month, counting the month's emails can take seconds. So call the function before a transaction that
 * several requests share, and not in it. Call it without a limit, too: a limit that is set later deletes the row. The
 * function queries Postgres once per project, month and limit. If it does not notice a change of the limit, because the
 * process handled no request in between, `takeMonthlyAllowance` creates the row.
 */
export function createMonthRowCreator(db: Db): (p: { projectId: string; limit: number | null }) => Promise<void> {
  let month = '';
  const opened = new Map<string, { limit: number; opening: Promise<void> }>();
  return async ({ projectId, limit }) => {
    if (limit === null) {
      opened.delete(projectId);
      return;
    }
    const now = new Date().toISOString().slice(0, 'yyyy-mm'.length);
    if (now !== month || opened.size >= OPENED_MAX) opened.clear();
    month = now;
    const known = opened.get(projectId);
    if (known?.limit === limit) return known.opening;
    const opening = createMonthRow(db, projectId);
    opened.set(projectId, { limit, opening });
    await opening.catch((error: unknown) => {
      if (opened.get(projectId)?.opening === opening) opened.delete(projectId);
      throw error;
    });
  };
}

/**
 * Returns the number of emails that the monthly limit still allows, at least 0. Locks the month's row, so that the
 * number stays correct until the caller has recorded its emails. If the row is missing, returns the limit and locks
 * nothing.
 */
export async function getRemainingMonthlyQuota(db: Db, p: { projectId: string; limit: number }): Promise<number> {
  const { rows } = await sql<{ remaining: number }>`
    SELECT greatest(0, ${p.limit}::int - emails) AS remaining FROM monthly_usage
    WHERE project_id = ${p.projectId} AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date FOR UPDATE
  `.execute(db);
  return rows[0]?.remaining ?? p.limit;
}

/** Tells whether the monthly limit is reached by committed emails. Takes no lock. */
export async function isMonthlyLimitReached(db: Db, p: { projectId: string; limit: number }): Promise<boolean> {
  const { rows } = await sql<{ full: boolean }>`
    SELECT emails >= ${p.limit} AS full FROM monthly_usage WHERE project_id = ${p.projectId} AND month = ${MONTH}
  `.execute(db);
  return rows[0]?.full ?? false;
}
