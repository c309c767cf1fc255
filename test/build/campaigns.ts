import { sql } from 'kysely';
import { type CampaignContent, type CampaignStart, insertCampaign } from '../../db/campaigns/campaigns.ts';
import type { Db } from '../../db/connection.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startCampaign } from '../../engine/campaigns/lifecycle.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';

/**
 * Builds subscribed contacts `r0@to.test`, `r1@to.test` …. Each gets the same `data`, and its number as `n`. Returns
 * the number of contacts.
 */
export async function buildContacts(
  db: Db,
  p: { projectId: string; count: number; localPart?: string; data?: Record<string, unknown> },
): Promise<number> {
  const data = JSON.stringify(p.data ?? { firstName: 'Ada' });
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${p.projectId}, ${p.localPart ?? 'r'}::text || n || '@to.test', true, ${data}::jsonb || jsonb_build_object('n', n)
    FROM generate_series(0, ${p.count - 1}::int) AS n
  `.execute(db);
  return p.count;
}

/** Returns the body of `POST /campaigns` for a campaign to all contacts. */
export function createCampaignBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'News',
    subject: 'News for {{firstName}}',
    body: '<p>Hello {{firstName}}, you are number {{n}}. <a href="https://example.com/a?n={{n}}">Read</a></p>',
    from: 'news@sender.test',
    audienceType: 'ALL',
    ...changes,
  };
}

/** Builds a started campaign from `a@sender.test` to all contacts. No worker has started to send it. */
export async function buildStartedCampaign(
  db: Db,
  { projectId, says }: { projectId: string; says?: Partial<CampaignContent> },
): Promise<CampaignStart> {
  const content = {
    ...NO_TEXT,
    name: 'News',
    description: null,
    subject: 'Hi {{firstName}}',
    body: '<p>{{n}}</p>',
    from: 'a@sender.test',
    audienceType: 'ALL' as const,
    segmentId: null,
    audienceFilter: null,
    ...says,
  };
  return inTransaction(db, async (trx) => {
    const { id } = await insertCampaign(trx, { projectId, content });
    await startCampaign(trx, { projectId, id, at: null, mode: 'live' });
    return { projectId, campaignId: id, sendNo: 1 };
  });
}
