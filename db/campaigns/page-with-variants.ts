import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import {
  type AssignmentCounts,
  assignVariants,
  type CampaignVariant,
  REST,
  type VariantTest,
} from '../../rules/campaigns/variants.ts';
import type { Trx } from '../connection.ts';
import { checkedPageSql, type PageZones } from './zoned-pages.ts';

/** Consecutive rows of a page that become a chunk. All rows have the same variant and zone. */
export interface PageChunk {
  /** Time zone of these recipients. Null means the project's zone. */
  zone: string | null;
  first: string;
  last: string;
  size: number;
  /**
   * Null if the campaign has no variants, for recipients who wait for the winner of the test, and for skipped
   * recipients.
   */
  variant: number | null;
  /** True for recipients who do not take part in the test. They wait until the winner of the test is known. */
  rest: boolean;
}

/** The columns of a campaign with variants that a page needs. */
export interface CampaignWithVariants {
  variants: CampaignVariant[];
  variant_test: VariantTest | null;
  variant_content_ids: string[];
  winner: number | null;
  mode: KeyMode;
}

export interface PageWithVariants {
  chunks: PageChunk[];
  /** Number of recipients to send to. */
  open: number;
  /** Number of contacts read. */
  seen: number;
  cursor: string | null;
}

/**
 * Inserts a page of an audience with variants into the ledger. The INSERT assigns a variant to each row, or lets the
 * row wait for the winner of the test. The number of rows for each variant is computed from the numbers of the earlier
 * pages, and the campaign's row is locked. After a crash, the page is therefore either complete or inserted again with
 * the same numbers. A hash of the contact decides which contact gets which variant, so the order of an import has no
 * influence. Skipped contacts do not count, so the share of the test is a share of the people who get the email. The
 * rows of one variant and zone are one range of ids.
 */
export async function insertPageWithVariants(
  trx: Trx,
  p: {
    projectId: string;
    campaignId: string;
    campaign: CampaignWithVariants;
    predicate: RawBuilder<SqlBool>;
    present: RawBuilder<unknown>;
    /** SQL for the reason to skip a row of `page`, or NULL. */
    refused: RawBuilder<string | null>;
    contacts: number;
    zones: PageZones | undefined;
    /** The maximum number of recipients in a chunk. */
    chunkMax: number;
  },
): Promise<PageWithVariants> {
  const { projectId, campaignId, campaign, predicate, present, refused, contacts, zones } = p;
  const { variants, variant_test: test, winner, mode } = campaign;
  const before = await countAssigned(trx, campaignId, variants.length);
  const weights = variants.map(({ weight }) => weight);
  const slots = assignVariants({ weights, share: test?.share ?? 1, before, n: contacts });
  const { rows } = await sql<
    { chunks: (Omit<PageChunk, 'variant' | 'rest'> & { place: number | null })[] } & PageWithVariants
  >`
    WITH ${checkedPageSql({ predicate, refused, contacts, zones })}, placed AS MATERIALIZED (
      SELECT id, refused, CASE WHEN refused IS NULL THEN zone END AS zone, CASE WHEN refused IS NULL THEN
        (${slots}::smallint[])[row_number() OVER (ORDER BY refused IS NOT NULL, md5(id::text || ${campaignId}::text), id)] END AS place
      FROM zoned
    ), assigned AS (
      SELECT *, CASE WHEN place = ${REST}::smallint THEN ${winner}::smallint ELSE place END AS variant FROM placed
    ), taken AS (
      INSERT INTO emails (project_id, contact_id, content_id, campaign_id, source_type, mode, variant, status, reason, failed_at)
      SELECT ${projectId}::uuid, assigned.id, (${campaign.variant_content_ids}::uuid[])[coalesce(assigned.variant, 0) + 1], ${campaignId}::uuid,
        'CAMPAIGN', ${mode}, assigned.variant, CASE WHEN assigned.refused IS NULL THEN 'PENDING' ELSE 'FAILED' END, assigned.refused,
        CASE WHEN assigned.refused IS NOT NULL THEN now() END
      FROM assigned ORDER BY place = ${REST}::smallint NULLS LAST, zone NULLS FIRST, place, assigned.id
      ${present}
      RETURNING id, contact_id, status
    ), parts AS (
      SELECT taken.id, zone, place, (row_number() OVER (PARTITION BY zone, place ORDER BY taken.id) - 1) / ${p.chunkMax}::int AS part
      FROM taken JOIN placed ON placed.id = taken.contact_id
    ), ranges AS (
      SELECT zone, place, count(*) AS size, (array_agg(id ORDER BY id))[1] AS first, (array_agg(id ORDER BY id DESC))[1] AS last
      FROM parts GROUP BY zone, place, part
    )
    SELECT (SELECT count(*) FROM page) AS seen, (SELECT count(*) FROM taken WHERE status = 'PENDING') AS open, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS cursor,
      (SELECT coalesce(json_agg(ranges ORDER BY first), '[]') FROM ranges) AS chunks
  `.execute(trx);
  const row = rows[0];
  if (!row) throw new Error('inserting a page of the audience returned no row');
  const chunks = row.chunks.map(({ place, ...range }) => ({
    ...range,
    variant: place === REST ? winner : place,
    rest: place === REST,
  }));
  return { chunks, open: row.open, seen: row.seen, cursor: row.cursor };
}

/** Counts the recipients of the earlier pages, by variant. */
async function countAssigned(trx: Trx, campaignId: string, variants: number): Promise<AssignmentCounts> {
  const { rows } = await sql<{ variant: number | null; rest: boolean; recipients: number }>`
    SELECT CASE WHEN NOT rest THEN variant END AS variant, rest, sum(size)::int AS recipients
    FROM campaign_chunks WHERE campaign_id = ${campaignId} GROUP BY 1, 2
  `.execute(trx);
  const countOfVariant = (variant: number) => rows.find((row) => row.variant === variant)?.recipients ?? 0;
  return {
    variants: Array.from({ length: variants }, (_, n) => countOfVariant(n)),
    rest: rows.find(({ rest }) => rest)?.recipients ?? 0,
  };
}
