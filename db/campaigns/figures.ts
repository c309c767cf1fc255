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
import { joinedTransaction } from '../joined-transaction.ts';
import { sqlStateOf } from '../postgres-errors.ts';
import { inSavepoint } from '../transaction.ts';
import { countChunks } from './chunk-figures.ts';

/** All that can be counted of a campaign's recipients. */
export interface Figures {
  counts: CampaignCounts;
  /** By the number of the variant, from 0; who waits for the winner is in none. */
  variants: Map<number, CampaignCounts>;
  /** The same of those who were sent one before there was a winner. */
  tested: Map<number, CampaignCounts>;
  byReason: Record<string, number>;
  /** How many by the hour in which it happened, numbered from 1970. */
  hours: Record<SeriesKind, Map<number, number>>;
  machineOpens: number;
  machineClicks: number;
}

/** A chunk with what is kept of it, where that still holds. */
interface Chunk {
  campaignId: string;
  seq: number;
  variant: number | null;
  rest: boolean;
  figures: ChunkFigures | null;
  /** What is counted now may be kept: nothing changes it unseen. */
  keeps: boolean;
}

/** Another reader was faster: what he kept is as good. */
const OVERTAKEN = new Set(['40001', '40P01']);

/**
 * Figures of campaigns by id; one without recipients is missing. Of each one snapshot: the sum holds while a send is
 * running. What is kept with the chunks is added up, and chunks that a turn is at, or of which something came back, are
 * counted: a large campaign is counted as a whole only when it is asked for first.
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
      ? await countLacking(db, { projectId: p.projectId, campaignId: id })
      : chunks.filter(({ campaignId }) => campaignId === id);
    figures.set(id, sumOf(whole));
  }
  return figures;
}

/**
 * Counts what a campaign's chunks lack, in one snapshot with those that do not, and keeps it. In a transaction that `db`
 * has joined, nothing is kept: that one has another snapshot for each statement.
 */
async function countLacking(db: Db, p: { projectId: string; campaignId: string }): Promise<Chunk[]> {
  const joined = joinedTransaction(db);
  if (joined) return (await countChunksOf(joined, p)).chunks;
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { chunks, lacking } = await countChunksOf(trx, p);
      await keep(trx, p, lacking.filter(isToBeKept));
      return chunks;
    });
}

async function countChunksOf(trx: Trx, p: { projectId: string; campaignId: string }) {
  const chunks = await listChunks(trx, { projectId: p.projectId, ids: [p.campaignId] });
  const lacking = chunks.filter(({ figures }) => figures === null);
  const counted = await countChunks(trx, { ...p, seqs: lacking.map(({ seq }) => seq) });
  for (const chunk of lacking) chunk.figures = counted.get(chunk.seq) ?? null;
  return { chunks, lacking };
}

/** What cannot change stays; of a campaign that is over, where nobody waits any more. */
function isToBeKept({ keeps, figures }: Chunk): boolean {
  return keeps && figures !== null;
}

/**
 * Kept as of the snapshot, and of the notes only those go that it has seen. Where anything has changed these rows
 * since, Postgres refuses, and nothing is kept.
 */
async function keep(trx: Trx, p: { projectId: string; campaignId: string }, chunks: Chunk[]): Promise<void> {
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
    if (!OVERTAKEN.has(sqlStateOf(error) ?? '')) throw error;
  }
}

/**
 * In the order of their numbers. What is kept of a chunk holds while it has no note, and no turn is at it; once it is
 * done, or the campaign over, when it says that nobody waits any more: what ends the rest of a cancelled campaign
 * leaves no notes.
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
  return rows.map(({ over, figures, ...chunk }) => ({ ...chunk, figures: over && hasOpen(figures) ? null : figures }));
}

function hasOpen(figures: ChunkFigures | null): boolean {
  return figures?.variants.some(({ counts }) => counts.pending > 0) ?? false;
}

function sumOf(chunks: Chunk[]): Figures {
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
    if (variant !== null) addCounts(entryOf(sum.variants, variant), counts);
    if (ofChunk !== null && !rest) addCounts(entryOf(sum.tested, ofChunk), counts);
  }
  for (const [reason, recipients] of Object.entries(figures.byReason))
    sum.byReason[reason] = (sum.byReason[reason] ?? 0) + recipients;
  for (const kind of SERIES)
    for (const [hour, recipients] of Object.entries(figures.hours[kind]))
      sum.hours[kind].set(Number(hour), (sum.hours[kind].get(Number(hour)) ?? 0) + recipients);
  sum.machineOpens += figures.machineOpens;
  sum.machineClicks += figures.machineClicks;
}

function entryOf(counts: Map<number, CampaignCounts>, variant: number): CampaignCounts {
  const entry = counts.get(variant) ?? { ...NO_COUNTS };
  counts.set(variant, entry);
  return entry;
}
