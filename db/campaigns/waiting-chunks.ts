import { type RawBuilder, sql } from 'kysely';
import type { ChunkState, DueChunks, WaitingChunks } from '../../rules/campaigns/campaign.ts';
import type { Db } from '../connection.ts';
import type { CampaignStart } from './campaigns.ts';
import { CLOCK_KEY } from './chunk-clock.ts';

/**
 * A chunk that waits. `clock` identifies the timing settings that determine the wait. `clock` is null if the chunk
 * waits because the provider deferred its emails.
 */
export interface ChunkWait {
  chunk: ChunkState;
  clock: string | null;
}

/** A workflow's request for the chunks whose wait is over. */
interface DueRequest extends CampaignStart {
  /**
   * The lowest number of a chunk that the workflow has not started yet. This chunk and those with higher numbers do not
   * wait, and are not in the result.
   */
  before: number;
  /**
   * Chunks that the workflow has already received. The row of such a chunk still shows the wait until the chunk's turn
   * starts.
   */
  except: number[];
  limit: number;
}

/** Returns the assignments that make a row of `campaign_chunks` wait. */
export function setWaitSql({ chunk, clock }: ChunkWait): RawBuilder<unknown> {
  const { dueAtMs, deferredSinceMs, deferrals, from, putOff } = chunk;
  return sql`due_at = ${new Date(dueAtMs)}, due_clock = ${clock}, deferred_since = ${toDate(deferredSinceMs)},
    deferrals = ${deferrals}, resume_id = ${from ?? null}::uuid, resume_deferred = ${putOff ?? null}`;
}

/**
 * Stores the waits of chunks from a workflow of an earlier version, which kept them in its own state. Safe to run
 * twice.
 */
export async function storeChunkWaits(db: Db, p: CampaignStart & { waits: ChunkWait[] }): Promise<void> {
  const rows = p.waits.map(({ chunk, clock }) => ({
    seq: chunk.seq,
    due_at: new Date(chunk.dueAtMs),
    due_clock: clock,
    deferred_since: toDate(chunk.deferredSinceMs),
    deferrals: chunk.deferrals,
    resume_id: chunk.from ?? null,
    resume_deferred: chunk.putOff ?? null,
  }));
  await sql`
    UPDATE campaign_chunks h SET due_at = w.due_at, due_clock = w.due_clock, deferred_since = w.deferred_since,
      deferrals = w.deferrals, resume_id = w.resume_id, resume_deferred = w.resume_deferred
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS w (seq int, due_at timestamptz, due_clock text,
      deferred_since timestamptz, deferrals int, resume_id uuid, resume_deferred boolean)
    WHERE h.campaign_id = ${p.campaignId} AND h.project_id = ${p.projectId} AND h.seq = w.seq AND h.done_at IS NULL
  `.execute(db);
}

/**
 * Returns at most `limit` chunks whose wait is over, and a summary of the other waiting chunks. Changes nothing, so if
 * the response is lost, a repeated call returns the same chunks. If the timing settings have changed since a chunk
 * started to wait, the chunk is returned at once, so that its turn checks the new settings.
 */
export async function readDueChunks(db: Db, p: DueRequest): Promise<DueChunks> {
  const { rows } = await sql<DueRow>`
    ${selectWaitingChunks(p)} SELECT * FROM waiting WHERE at <= now() ORDER BY at, seq LIMIT ${p.limit}
  `.execute(db);
  const due = rows.map(toLaterChunk);
  const except = [...p.except, ...due.map(({ seq }) => seq)];
  return { due, waiting: await summarizeWaiting(db, { ...p, except }) };
}

async function summarizeWaiting(db: Db, p: DueRequest): Promise<WaitingChunks | null> {
  const { rows } = await sql<{ at: Date | null; clock: string | null; chunks: number; untried: number }>`
    ${selectWaitingChunks(p)}
    SELECT min(at) AS at, (array_agg(due_clock ORDER BY at))[1] AS clock, count(*)::int AS chunks,
      (count(*) FILTER (WHERE deferred_since IS NULL))::int AS untried
    FROM waiting
  `.execute(db);
  const row = rows[0];
  if (!row?.at) return null;
  return { dueAtMs: row.at.getTime(), shut: row.clock !== null, chunks: row.chunks, untried: row.untried };
}

/**
 * Builds the start of a statement with the CTE `waiting`: the waiting chunks, each with the instant `at` of its next
 * turn.
 */
function selectWaitingChunks(p: DueRequest): RawBuilder<unknown> {
  return sql`
    WITH waiting AS MATERIALIZED (
      SELECT h.seq, h.due_clock, h.deferred_since, h.deferrals, h.resume_id, h.resume_deferred,
        CASE WHEN h.due_clock <> ${CLOCK_KEY} THEN least(h.due_at, now()) ELSE h.due_at END AS at
      FROM campaign_chunks h JOIN campaigns k ON k.id = h.campaign_id JOIN projects p ON p.id = k.project_id
      WHERE h.campaign_id = ${p.campaignId} AND h.project_id = ${p.projectId} AND k.project_id = ${p.projectId}
        AND h.due_at IS NOT NULL AND h.done_at IS NULL AND h.seq < ${p.before} AND h.seq <> ALL(${p.except}::int[]))`;
}

interface DueRow {
  seq: number;
  at: Date;
  due_clock: string | null;
  deferred_since: Date | null;
  deferrals: number | null;
  resume_id: string | null;
  resume_deferred: boolean | null;
}

function toLaterChunk(row: DueRow): ChunkState {
  return {
    seq: row.seq,
    dueAtMs: row.at.getTime(),
    deferredSinceMs: row.deferred_since?.getTime() ?? null,
    deferrals: row.deferrals ?? 0,
    ...(row.resume_id !== null && { from: row.resume_id }),
    ...(row.resume_deferred !== null && { putOff: row.resume_deferred }),
    ...(row.due_clock !== null && { shut: true }),
  };
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
