import { sql } from 'kysely';
import {
  addCounts,
  type CampaignCounts,
  type ChunkFigures,
  NO_COUNTS,
  SERIES,
  type SeriesKind,
} from '../../rules/campaigns/counts.ts';
import type { Db, Trx } from '../connection.ts';
import { findJoinedTransaction } from '../joined-transaction.ts';
import { readSqlState } from '../postgres-errors.ts';
import { inSavepoint } from '../transaction.ts';
import { countChunkRecipients } from './chunk-figures.ts';

/** Statistics of a campaign's recipients. */
export interface Figures {
  counts: CampaignCounts;
  /**
   * By variant number, from 0. In a campaign that tests its variants, some recipients wait until the test is over, and
   * then get the variant that won. Until then, they belong to no variant.
   */
  variants: Map<number, CampaignCounts>;
  /** By variant number: only the recipients who took part in the test, and did not wait for its winner. */
  tested: Map<number, CampaignCounts>;
  byReason: Record<string, number>;
  /** Events per hour. Hours are numbered from 1970. */
  hours: Record<SeriesKind, Map<number, number>>;
  machineOpens: number;
  machineClicks: number;
}

/** A chunk with its stored statistics, if they are still valid. */
interface Chunk {
  campaignId: string;
  seq: number;
  variant: number | null;
  rest: boolean;
  figures: ChunkFigures | null;
  /** True if the chunk's statistics may be stored, because every later change of the chunk marks them as stale. */
  keeps: boolean;
}

/** SQLSTATEs of a conflict: another reader has stored the same statistics first. */
const LOST_RACE = new Set(['40001', '40P01']);

/**
 * Reads the statistics of campaigns, by campaign id. Reads each campaign in one snapshot, so that the sums are correct
 * while the campaign is being sent. If `db` has joined a transaction (db/joined-transaction.ts), each statement has a
 * separate snapshot. A campaign without recipients is absent from the result. Adds up the stored statistics of chunks.
 * Counts the recipients of chunks that are being sent or have new events. A large campaign is counted completely only
 * on the first request.
 */
export async function readFigures(
  db: Db,
  p: { projectId: string; ids: readonly string[] },
): Promise<Map<string, Figures>> {
  if (p.ids.length === 0) return new Map();
  const chunks = await listChunks(db, p);
  const lacking = new Set(chunks.filter(({ figures }) => figures === null).map(({ campaignId }) => campaignId));
  const figures = new Map<string, Figures>();
  for (const id of new Set(chunks.map(({ campaignId }) => campaignId))) {
    const whole = lacking.has(id)
      ? await countMissing(db, { projectId: p.projectId, campaignId: id })
      : chunks.filter(({ campaignId }) => campaignId === id);
    figures.set(id, sumChunks(whole));
  }
  return figures;
}

/**
 * Counts the recipients of chunks without stored statistics, and stores the result. Reads the stored statistics in the
 * same snapshot. Stores nothing if `db` has joined a transaction of the caller, because each statement of that
 * transaction has a separate snapshot.
 */
async function countMissing(db: Db, p: { projectId: string; campaignId: string }): Promise<Chunk[]> {
  const joined = findJoinedTransaction(db);
  if (joined) return (await listChunksWithFigures(joined, p)).chunks;
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { chunks, lacking } = await listChunksWithFigures(trx, p);
      await storeFigures(trx, p, lacking.filter(canBeStored));
      return chunks;
    });
}

async function listChunksWithFigures(trx: Trx, p: { projectId: string; campaignId: string }) {
  const chunks = await listChunks(trx, { projectId: p.projectId, ids: [p.campaignId] });
  const lacking = chunks.filter(({ figures }) => figures === null);
  const counted = await countChunkRecipients(trx, { ...p, seqs: lacking.map(({ seq }) => seq) });
  for (const chunk of lacking) chunk.figures = counted.get(chunk.seq) ?? null;
  return { chunks, lacking };
}

/** Tells whether the counted statistics of a chunk may be stored. */
function canBeStored({ keeps, figures }: Chunk): boolean {
  return keeps && figures !== null;
}

/**
 * Stores the counted statistics, and deletes the stale marks (`campaign_touches`) that are in the same snapshot. If a
 * chunk or a mark has changed after the snapshot, Postgres reports a conflict, and this function stores nothing.
 */
async function storeFigures(trx: Trx, p: { projectId: string; campaignId: string }, chunks: Chunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const seqs = chunks.map(({ seq }) => seq);
  try {
    await inSavepoint(trx, async () => {
      await sql`
        UPDATE campaign_chunks k SET figures = u.figures
        FROM unnest(${seqs}::int[], ${chunks.map(({ figures }) => JSON.stringify(figures))}::jsonb[]) AS u (seq, figures)
        WHERE k.campaign_id = ${p.campaignId} AND k.project_id = ${p.projectId} AND k.seq = u.seq
      `.execute(trx);
      await sql`
        DELETE FROM campaign_touches t USING campaign_chunks k
        WHERE t.campaign_id = ${p.campaignId} AND t.project_id = ${p.projectId} AND k.campaign_id = t.campaign_id
          AND k.seq = ANY(${seqs}::int[]) AND t.email_id BETWEEN k.first_id AND k.last_id
      `.execute(trx);
    });
  } catch (error) {
    if (!LOST_RACE.has(readSqlState(error) ?? '')) throw error;
  }
}

/**
 * Lists chunks in the order of their numbers. Stored statistics are valid if the chunk has no stale mark and is not
 * being sent. After the end of the chunk or the campaign, the mark that the chunk is being sent (`busy`) is ignored.
 * A cancellation marks the waiting recipients of a campaign as failed, but writes no stale marks. So after the end,
 * statistics that count a waiting recipient are from before the cancellation, and are not valid.
 */
async function listChunks(db: Db, p: { projectId: string; ids: readonly string[] }): Promise<Chunk[]> {
  const { rows } = await sql<Chunk & { over: boolean }>`
    SELECT k.campaign_id AS "campaignId", k.seq, k.variant, k.rest, s.over, s.over OR NOT k.busy AS keeps,
      CASE WHEN (s.over OR NOT k.busy) AND NOT EXISTS (
        SELECT FROM campaign_touches t WHERE t.campaign_id = k.campaign_id AND t.email_id BETWEEN k.first_id AND k.last_id)
      THEN k.figures END AS figures
    FROM campaign_chunks k JOIN campaigns c ON c.id = k.campaign_id AND c.project_id = k.project_id,
      LATERAL (SELECT k.done_at IS NOT NULL OR c.status NOT IN ('SENDING', 'PAUSED') AS over) s
    WHERE k.project_id = ${p.projectId} AND k.campaign_id = ANY(${p.ids}::uuid[]) ORDER BY k.campaign_id, k.seq
  `.execute(db);
  return rows.map(({ over, figures, ...chunk }) => ({
    ...chunk,
    figures: over && hasOpenRecipients(figures) ? null : figures,
  }));
}

function hasOpenRecipients(figures: ChunkFigures | null): boolean {
  return figures?.variants.some(({ counts }) => counts.pending > 0) ?? false;
}

function sumChunks(chunks: Chunk[]): Figures {
  const sum: Figures = {
    counts: { ...NO_COUNTS },
    variants: new Map(),
    tested: new Map(),
    byReason: {},
    hours: { sent: new Map(), delivered: new Map(), opened: new Map(), clicked: new Map() },
    machineOpens: 0,
    machineClicks: 0,
  };
  for (const chunk of chunks) if (chunk.figures) addChunk(sum, chunk, chunk.figures);
  return sum;
}

function addChunk(sum: Figures, { variant: ofChunk, rest }: Chunk, figures: ChunkFigures): void {
  for (const { variant, counts } of figures.variants) {
    addCounts(sum.counts, counts);
    if (variant !== null) addCounts(getOrAddCounts(sum.variants, variant), counts);
    if (ofChunk !== null && !rest) addCounts(getOrAddCounts(sum.tested, ofChunk), counts);
  }
  for (const [reason, recipients] of Object.entries(figures.byReason))
    sum.byReason[reason] = (sum.byReason[reason] ?? 0) + recipients;
  for (const kind of SERIES)
    for (const [hour, recipients] of Object.entries(figures.hours[kind]))
      sum.hours[kind].set(Number(hour), (sum.hours[kind].get(Number(hour)) ?? 0) + recipients);
  sum.machineOpens += figures.machineOpens;
  sum.machineClicks += figures.machineClicks;
}

function getOrAddCounts(counts: Map<number, CampaignCounts>, variant: number): CampaignCounts {
  const entry = counts.get(variant) ?? { ...NO_COUNTS };
  counts.set(variant, entry);
  return entry;
}
