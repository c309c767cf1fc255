import type { Db, Trx } from '../connection.ts';
import { CAMPAIGN_COLUMN_NAMES, type Campaign, toCampaign } from './campaigns.ts';

/** Lists all DRAFT campaigns of the project by slug, with their bodies. Does not limit the total size. */
export async function listAllDrafts(db: Db, projectId: string): Promise<Campaign[]> {
  const rows = await db
    .selectFrom('campaigns')
    .select(CAMPAIGN_COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('status', '=', 'DRAFT')
    .orderBy('slug')
    .execute();
  return rows.map(toCampaign);
}

/** Lists campaigns of any status with one of these slugs. */
export async function listCampaignsBySlug(
  db: Db,
  p: { projectId: string; slugs: readonly string[] },
): Promise<Campaign[]> {
  if (p.slugs.length === 0) return [];
  const rows = await selectCampaignsBySlug(db, p).execute();
  return rows.map(toCampaign);
}

/**
 * Like `listCampaignsBySlug`, but locks the campaigns until the transaction ends, so that no one starts them in the
 * meantime.
 */
export async function lockCampaignsBySlug(
  trx: Trx,
  p: { projectId: string; slugs: readonly string[] },
): Promise<Campaign[]> {
  if (p.slugs.length === 0) return [];
  const rows = await selectCampaignsBySlug(trx, p).forNoKeyUpdate().execute();
  return rows.map(toCampaign);
}

function selectCampaignsBySlug(db: Db, { projectId, slugs }: { projectId: string; slugs: readonly string[] }) {
  return db
    .selectFrom('campaigns')
    .select(CAMPAIGN_COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('slug', 'in', slugs)
    .orderBy('id');
}
