import { findChunkTiming, type OpenGate, storeNotBefore } from '../../db/campaigns/chunk-clock.ts';
import { type ChunkRef, failChunk, finishChunk } from '../../db/campaigns/chunks.ts';
import type { Db } from '../../db/connection.ts';
import type { ChunkResult } from '../../rules/campaigns/campaign.ts';
import { checkCampaignGate } from '../../rules/campaigns/gate.ts';

/**
 * Decides whether a chunk may be sent at the current local time of its recipients. If the chunk may not be sent,
 * `refused` has the result of the turn. Either the chunk waits until a later instant, or its emails have failed,
 * because their send time has passed. Returns undefined if the chunk does not exist. Uses the database's clock, because
 * claims use it too.
 */
export async function checkGate(db: Db, chunk: ChunkRef): Promise<OpenGate | { refused: ChunkResult } | undefined> {
  const found = await findChunkTiming(db, chunk);
  if (!found) return undefined;
  const { clock, key, now } = found;
  const gate = checkCampaignGate(clock, now.getTime());
  if (gate.kind === 'late') {
    await failChunk(db, { ...chunk, reason: 'too_late' });
    const outcome = (await finishChunk(db, chunk)) ? 'done' : 'more';
    return { refused: { outcome, sent: 0, retryAfterMs: 0 } };
  }
  await storeNotBefore(db, { ...chunk, notBefore: gate.kind === 'closed' ? new Date(gate.notBeforeMs) : null });
  if (gate.kind === 'open') return { key, closesAt: gate.closesAtMs === null ? null : new Date(gate.closesAtMs) };
  const { notBeforeMs } = gate;
  return { refused: { outcome: 'shut', sent: 0, retryAfterMs: 0, notBeforeMs, clock: key } };
}
