import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { type ChunkWait, setWait } from './waiting-chunks.ts';

interface Chunk {
  projectId: string;
  campaignId: string;
  seq: number;
}

/**
 * Starts a turn of a chunk, and clears its wait. Its recipients change until `endTurn`, so its statistics are not
 * stored meanwhile.
 */
export async function beginTurn(db: Db, p: Chunk): Promise<void> {
  await updateChunk(db, p, sql`busy = true, figures = NULL, due_at = NULL`);
}

/**
 * Ends a turn of a chunk, and deletes statistics that were counted meanwhile. With `wait`, also stores the wait for the
 * next turn, in the same statement.
 */
export async function endTurn(db: Db, p: Chunk, wait?: ChunkWait): Promise<void> {
  await updateChunk(db, p, sql`busy = false, figures = NULL${wait ? sql`, ${setWait(wait)}` : sql``}`);
}

async function updateChunk(db: Db, p: Chunk, set: RawBuilder<unknown>): Promise<void> {
  await sql`
    UPDATE campaign_chunks SET ${set} WHERE campaign_id = ${p.campaignId} AND seq = ${p.seq} AND project_id = ${p.projectId}
  `.execute(db);
}
