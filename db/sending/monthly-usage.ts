import { type SqlBool, sql } from 'kysely';
import type { Db } from '../connection.ts';
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
 * Creates the month's row with the number of emails so far, if the row is missing. Afterwards, each send only adds to
 * this row. The number is the same as if each email had been counted when it was accepted or sent.
 */
export async function createMonthRow(db: Db, projectId: string): Promise<void> {
  await sql`
    INSERT INTO monthly_usage (project_id, month, emails)
    SELECT ${projectId}, ${MONTH}, (
      SELECT count(*) FROM emails
      WHERE project_id = ${projectId} AND mode = 'live' AND source_type <> 'INBOUND' AND id >= ${FIRST_ID}
        AND NOT simulated AND NOT ${isSimulatorSql(sql`to_email`)}
        AND NOT (${IS_SKIPPED_AT_ONCE}) AND NOT (${IS_NOT_YET_COUNTED}))
    WHERE NOT EXISTS (SELECT FROM monthly_usage WHERE project_id = ${projectId} AND month = ${MONTH})
    ON CONFLICT DO NOTHING
  `.execute(db);
}

/**
 * Maximum number of projects in a process's cache. Each needs about 100 bytes. When the maximum is reached, the process
 * clears the cache, and queries Postgres again for each project.
 */
const OPENED_MAX = 10_000;

/**
 * Returns a function that creates a project's row for the month. If a limit is set late in the month, counting the
 * month's emails can take seconds. So call the function before a transaction that several requests share, and not in
 * it. The function queries Postgres once per project and month.
 */
export function createMonthRowCreator(db: Db): (projectId: string) => Promise<void> {
  let month = '';
  const opened = new Map<string, Promise<void>>();
  return async (projectId) => {
    const now = new Date().toISOString().slice(0, 'yyyy-mm'.length);
    if (now !== month || opened.size >= OPENED_MAX) opened.clear();
    month = now;
    const known = opened.get(projectId);
    if (known) return known;
    const opening = createMonthRow(db, projectId);
    opened.set(projectId, opening);
    await opening.catch((error: unknown) => {
      opened.delete(projectId);
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
