import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { type ChunkWait, setWait } from './waiting-chunks.ts';

interface Chunk {
  projectId: string;
  campaignId: string;
  seq: number;
}

/**
 * Starts a turn of a chunk, which then no longer waits. Its recipients change until `endTurn`, so its statistics are
 * not kept.
 */
export async function beginTurn(db: Db, p: Chunk): Promise<void> {
  await updateChunk(db, p, sql`busy = true, figures = NULL, due_at = NULL`);
}

/**
 * Ends a turn of a chunk, and deletes statistics that were counted meanwhile. With `wait`, the chunk waits for its
 * next turn. One statement does both, so a waiting chunk costs no more than another.
 */
export async function endTurn(db: Db, p: Chunk, wait?: ChunkWait): Promise<void> {
  await updateChunk(db, p, sql`busy = false, figures = NULL${wait ? sql`, ${setWait(wait)}` : sql``}`);
}

async function updateChunk(db: Db, p: Chunk, set: RawBuilder<unknown>): Promise<void> {
  await sql`
    UPDATE campaign_chunks SET ${set} WHERE campaign_id = ${p.campaignId} AND seq = ${p.seq} AND project_id = ${p.projectId}
  `.execute(db);
}
