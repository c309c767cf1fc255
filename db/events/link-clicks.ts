import { sql } from 'kysely';
import type { CampaignRef } from '../campaigns/campaigns.ts';
import type { Db, Trx } from '../connection.ts';
import type { Engagement } from './engagements.ts';

/** Clicks of one link of a content, as it stands in its list of links. */
export interface LinkClicks {
  contentId: string;
  link: number;
  /** The number of the variant whose mails have it; null where the campaign has none, or the mail is gone. */
  variant: number | null;
  /** By people. */
  clicks: number;
  /** Recipients who clicked. */
  uniqueClicks: number;
  machineClicks: number;
}

/**
 * Counts the clicks of campaigns' mails by link, in the transaction that counts them by mail, and under the locks that
 * it holds on the mails. `engagements` are in the order of their mails.
 */
export async function countLinkClicks(trx: Trx, p: { projectId: string; engagements: Engagement[] }): Promise<void> {
  const rows = p.engagements.flatMap(({ email, links = [] }) =>
    email.campaignId === null ? [] : links.map((link) => ({ ...link, email, campaignId: email.campaignId })),
  );
  if (rows.length === 0) return;
  await sql`
    INSERT INTO link_clicks AS l (campaign_id, email_id, link, project_id, content_id, clicks, machine_clicks)
    SELECT u.campaign_id, u.email_id, u.link, ${p.projectId}, u.content_id, u.clicks, u.machine_clicks
    FROM unnest(${rows.map((row) => row.campaignId)}::uuid[], ${rows.map((row) => row.email.id)}::uuid[],
      ${rows.map((row) => row.index)}::int[], ${rows.map((row) => row.email.contentId)}::uuid[],
      ${rows.map((row) => row.clicks)}::int[], ${rows.map((row) => row.machineClicks)}::int[])
      AS u (campaign_id, email_id, link, content_id, clicks, machine_clicks)
    ON CONFLICT (campaign_id, email_id, link) DO UPDATE
      SET clicks = l.clicks + excluded.clicks, machine_clicks = l.machine_clicks + excluded.machine_clicks
  `.execute(trx);
}

/**
 * The links of a campaign that anything has followed, by the content that has them, and by the variant: two may say the
 * same, and then share a content. Without `variants` no mail is looked at.
 */
export async function listLinkClicks(db: Db, p: CampaignRef & { variants: boolean }): Promise<LinkClicks[]> {
  const variant = p.variants ? sql`e.variant` : sql`NULL::smallint`;
  const mails = p.variants ? sql`LEFT JOIN emails e ON e.id = l.email_id AND e.project_id = l.project_id` : sql``;
  const { rows } = await sql<LinkClicks>`
    SELECT l.content_id AS "contentId", l.link, ${variant} AS variant, sum(l.clicks)::int AS clicks,
      count(*) FILTER (WHERE l.clicks > 0) AS "uniqueClicks", sum(l.machine_clicks)::int AS "machineClicks"
    FROM link_clicks l ${mails} WHERE l.campaign_id = ${p.id} AND l.project_id = ${p.projectId}
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  `.execute(db);
  return rows;
}
