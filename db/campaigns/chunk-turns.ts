import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { type ChunkWait, setWaitSql } from './waiting-chunks.ts';

interface Chunk {
  projectId: string;
  campaignId: string;
  seq: number;
}

/**
 * Marks a chunk as being sent, and clears its wait. The chunk's recipients change until `endChunkTurn`, so no
 * statistics of the chunk are stored until then.
 */
export async function startChunkTurn(db: Db, p: Chunk): Promise<void> {
  await updateChunk(db, p, sql`busy = true, figures = NULL, due_at = NULL`);
}

/**
 * Marks a chunk as no longer being sent, and deletes statistics that were counted during the turn. With `wait`, the
 * same statement stores when the chunk's next turn is due.
 */
export async function endChunkTurn(db: Db, p: Chunk, wait?: ChunkWait): Promise<void> {
  await updateChunk(db, p, sql`busy = false, figures = NULL${wait ? sql`, ${setWaitSql(wait)}` : sql``}`);
}

async function updateChunk(db: Db, p: Chunk, set: RawBuilder<unknown>): Promise<void> {
  await sql`
    UPDATE campaign_chunks SET ${set} WHERE campaign_id = ${p.campaignId} AND seq = ${p.seq} AND project_id = ${p.projectId}
  `.execute(db);
}
