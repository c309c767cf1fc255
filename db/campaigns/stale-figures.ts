import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * Returns a statement that marks the stored statistics of these emails' chunks as stale. Use it within the statement
 * that changes the emails. It inserts one mark per email into `campaign_touches`. Emails whose chunk is being sent need
 * no mark, because the statistics of such a chunk are counted at each request.
 * @param emails rows with `id`, `campaign_id` and `project_id`; emails without a campaign are ignored
 */
export function markFiguresStaleSql(emails: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    INSERT INTO campaign_touches (campaign_id, email_id, project_id)
    SELECT t.campaign_id, t.id, t.project_id FROM (${emails}) t WHERE t.campaign_id IS NOT NULL`;
}

/** The number of marks that one statement deletes. This many marks concern a few thousand chunks at most. */
const BATCH = 10_000;
/** The maximum number of statements, enough for the marks of an hour. */
const MAX_BATCHES = 500;

/**
 * Deletes the stored statistics of chunks that have stale marks, and deletes these marks. A request for a campaign's
 * statistics also deletes the marks of this campaign, but the marks of campaigns that no one views would accumulate.
 * One statement deletes statistics and marks, so a mark that is inserted in the meantime stays. Safe to run twice, and
 * at any time.
 */
export async function deleteStaleFigures(db: Db): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const { rows } = await sql<{ notes: number }>`
      WITH gone AS (
        DELETE FROM campaign_touches WHERE ctid IN (SELECT ctid FROM campaign_touches LIMIT ${BATCH})
        RETURNING campaign_id, email_id
      ), forgotten AS (
        UPDATE campaign_chunks SET figures = NULL WHERE figures IS NOT NULL AND (campaign_id, seq) IN (
          SELECT k.campaign_id, k.seq FROM gone g JOIN campaign_chunks k
          ON k.campaign_id = g.campaign_id AND k.first_id <= g.email_id AND k.last_id >= g.email_id)
      )
      SELECT count(*) AS notes FROM gone
    `.execute(db);
    if ((rows[0]?.notes ?? 0) < BATCH) return;
  }
}
