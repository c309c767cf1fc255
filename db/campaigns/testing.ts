import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * Tells whether recipients of a campaign wait for the winner of its test, or will wait. Undefined if the campaign has
 * no test.
 */
export async function isTesting(db: Db, p: { projectId: string; campaignId: string }): Promise<boolean | undefined> {
  return (await findTestState(db, p))?.testing;
}

/**
 * Returns the result of `isTesting`, and the highest number of a chunk that may be sent. Undefined if the campaign has
 * no test.
 */
export async function findTestState(
  db: Db,
  p: { projectId: string; campaignId: string },
): Promise<{ testing: boolean; lastSeq: number } | undefined> {
  const { rows } = await sql<{ testing: boolean; lastSeq: number }>`
    SELECT c.winner IS NULL AND CASE WHEN c.audience_done
        THEN EXISTS (SELECT FROM campaign_chunks k WHERE k.campaign_id = c.id AND k.seq < 0)
        ELSE (c.variant_test->>'share')::numeric < 1 END AS testing,
      ${lastSendableSeqSql(sql`c.id`)} AS "lastSeq"
    FROM campaigns c WHERE c.project_id = ${p.projectId} AND c.id = ${p.campaignId} AND c.variant_test IS NOT NULL
  `.execute(db);
  return rows[0];
}

/** SQL for the highest number of a chunk that may be sent. */
export function lastSendableSeqSql(campaignId: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(SELECT greatest(max(o.seq), 0) FROM campaign_chunks o WHERE o.campaign_id = ${campaignId})`;
}
