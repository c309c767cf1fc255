import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';

/** The clicks on one link of a content. `link` is the link's position in the list of links of the content. */
export interface LinkClicks {
  contentId: string;
  link: number;
  /**
   * The number of the variant that contains the link. Null if the caller did not request variants, or the email was
   * deleted.
   */
  variant: number | null;
  /** Clicks by humans. */
  clicks: number;
  /** Recipients who clicked. */
  uniqueClicks: number;
  machineClicks: number;
}

/**
 * Lists the clicked links of a campaign, by content and variant. Two variants with the same text share one content, so
 * the variant is read from the email. Without `variants`, no email is read.
 */
export async function listLinkClicks(db: Db, p: CampaignRef & { variants: boolean }): Promise<LinkClicks[]> {
  const variant = p.variants ? sql`e.variant` : sql`NULL::smallint`;
  const emailsJoin = p.variants ? sql`LEFT JOIN emails e ON e.id = l.email_id AND e.project_id = l.project_id` : sql``;
  const { rows } = await sql<LinkClicks>`
    SELECT l.content_id AS "contentId", l.link, ${variant} AS variant, sum(l.clicks)::int AS clicks,
      count(*) FILTER (WHERE l.clicks > 0) AS "uniqueClicks", sum(l.machine_clicks)::int AS "machineClicks"
    FROM link_clicks l ${emailsJoin} WHERE l.campaign_id = ${p.id} AND l.project_id = ${p.projectId}
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  `.execute(db);
  return rows;
}
