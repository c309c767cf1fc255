import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { buildEmail } from './emails.ts';

/**
 * Builds recipients of a campaign as the start of a campaign does, with one chunk for each 5,000. `n` counts from 0.
 * Returns the campaign's id.
 */
export async function buildSentCampaign(
  db: Db,
  p: { projectId: string; count: number; status?: string; reason?: string; body?: string },
): Promise<string> {
  const { projectId, count, status = `'SENT'`, reason = 'NULL', body = '<p>Hi</p>' } = p;
  const template = await buildEmail(db, { projectId, body, type: 'MARKETING' });
  const { rows } = await sql<{ id: string; content_id: string }>`
    INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, status, started_at, sent_at, send_no, audience_done, content_id)
    SELECT ${projectId}, 'News', 'Hi', ${body}, 'a@sender.test', 'ALL', 'SENT', now(), now(), 1, true, content_id FROM emails WHERE id = ${template}
    RETURNING id, content_id`.execute(db);
  const [campaign] = rows;
  if (!campaign) throw new Error('no campaign was made');
  await sql`DELETE FROM emails WHERE id = ${template}`.execute(db);
  await sql`
    INSERT INTO contacts (project_id, email, subscribed)
    SELECT ${projectId}, 'p' || n || '@to.test', true FROM generate_series(0, ${count - 1}::int) AS n
    ON CONFLICT DO NOTHING`.execute(db);
  await sql`
    INSERT INTO emails (project_id, contact_id, content_id, campaign_id, source_type, status, reason, to_email, attempts, sent_at)
    SELECT ${projectId}, c.id, ${campaign.content_id}, ${campaign.id}, 'CAMPAIGN', x.status, ${sql.raw(reason)}, c.email, 1,
      CASE WHEN x.status IN ('FAILED', 'PENDING') THEN NULL ELSE now() END
    FROM (SELECT id, email, substring(email FROM 2 FOR position('@' IN email) - 2)::int AS n FROM contacts
      WHERE project_id = ${projectId} AND email ~ '^p[0-9]+@') c, LATERAL (SELECT ${sql.raw(status)} AS status) x
    WHERE c.n < ${count}::int ORDER BY c.n`.execute(db);
  await sql`
    INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size, done_at)
    SELECT ${campaign.id}, n + 1, ${projectId}, (array_agg(id ORDER BY id))[1], (array_agg(id ORDER BY id DESC))[1], count(*), now()
    FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / 5000 AS n FROM emails WHERE campaign_id = ${campaign.id}) e GROUP BY n`.execute(
    db,
  );
  return campaign.id;
}

/** Deletes the stored statistics of a campaign after a test has changed its emails directly. */
export async function deleteStoredStatistics(db: Db, campaignId: string): Promise<void> {
  await sql`UPDATE campaign_chunks SET figures = NULL WHERE campaign_id = ${campaignId}`.execute(db);
}
