import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_CONTACTS } from '../../db/campaigns/audience.ts';
import { readDueChunks } from '../../db/campaigns/waiting-chunks.ts';
import { type CampaignInput, type ChunkState, LATER_MAX } from '../../rules/campaigns/campaign.ts';
import { createChunkState } from '../../rules/campaigns/chunk-state.ts';
import { addDueChunks } from '../../workflows/campaign-progress.ts';
import { SatisfiedVisits } from '../../workflows/satisfied-visits.ts';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const RECIPIENTS = 10_000_000;
/** A page of contacts in many time zones becomes one chunk for each zone; this campaign has 40 zones. */
const CHUNKS = (RECIPIENTS / PAGE_CONTACTS) * 40;
const PAYLOAD_MAX = 256 * 1024;
const LANES = 16;

let database: TestDatabase;
let start: { projectId: string; campaignId: string; sendNo: number };

beforeAll(async () => {
  database = await createTestDatabase();
  const { id: projectId } = await buildProject(database.db, 'Large');
  await buildDomain(database.db, { projectId, domain: 'sender.test' });
  await buildContacts(database.db, { projectId, count: 1 });
  start = await buildStartedCampaign(database.db, { projectId });
  await sql`
    INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size)
    SELECT ${start.campaignId}::uuid, n, ${projectId}::uuid, uuidv7(), uuidv7(), 125 FROM generate_series(1, ${CHUNKS}) n
  `.execute(database.db);
});
afterAll(() => database?.drop());

const countJsonBytes = (payload: unknown) => Buffer.byteLength(JSON.stringify(payload));
const createDeferredChunk = (seq: number, dueAtMs: number): ChunkState => ({
  seq,
  dueAtMs,
  deferredSinceMs: Date.now(),
  deferrals: 20,
  from: '01a21581-45c6-73bb-8fa2-6298bc3dfaeb',
  putOff: true,
  shut: true,
});

describe('the Temporal payloads of a campaign to 10 million recipients', () => {
  it('are small while all of its chunks wait', async () => {
    await sql`
      UPDATE campaign_chunks SET due_at = now(), deferred_since = now(), deferrals = 20, resume_id = first_id, resume_deferred = true
      WHERE campaign_id = ${start.campaignId}
    `.execute(database.db);
    const later = Array.from({ length: LATER_MAX }, (_, n) => createDeferredChunk(n + 1, 0));
    const except = [...later, ...Array.from({ length: LANES }, (_, n) => createChunkState(LATER_MAX + n + 1))].map(
      ({ seq }) => seq,
    );
    const request = { ...start, before: CHUNKS + 1, except };
    expect(countJsonBytes(request)).toBeLessThan(PAYLOAD_MAX);
    const response = await readDueChunks(database.db, { ...request, limit: 64 });
    expect(response.due).toHaveLength(64);
    expect(response.waiting).toMatchObject({ chunks: CHUNKS - LATER_MAX - LANES - 64, untried: 0 });
    expect(countJsonBytes(response)).toBeLessThan(PAYLOAD_MAX);

    const state = { audienceDone: true, recipients: RECIPIENTS, lastSeq: CHUNKS, nextSeq: CHUNKS + 1, later };
    addDueChunks(state, response, []);
    state.later.push(...except.slice(LATER_MAX).map((seq) => createDeferredChunk(seq, 0)));
    const carried: CampaignInput = { ...start, state: { ...state, clock: 'x'.repeat(2_000), testing: true } };
    expect(countJsonBytes(carried)).toBeLessThan(PAYLOAD_MAX);
  });

  it('are small when a run of an earlier version passes its state on', () => {
    const part = {
      ...start,
      chunks: Array.from({ length: 500 }, (_, n) => createDeferredChunk(CHUNKS + n, Date.now())),
      clock: 'x',
    };
    expect(countJsonBytes(part)).toBeLessThan(PAYLOAD_MAX);
  });
});

describe('the Temporal payloads of an execution that receives 50,000 signals', () => {
  it('are small with all its visits', () => {
    const visits = new SatisfiedVisits();
    for (let visit = 1; visit <= 50_000; visit++) visits.add(visit);
    expect(countJsonBytes(visits.toJSON())).toBeLessThan(10_000);
    expect(visits.has(1)).toBe(true);
    visits.dropBefore(500);
    expect(visits.has(499)).toBe(false);
    expect(visits.has(500)).toBe(true);
  });
});

describe('the Temporal payloads of a group of messages', () => {
  it('are small when a run passes its state on', () => {
    const id = '01a21581-45c6-73bb-8fa2-6298bc3dfaeb';
    const messages = Array.from({ length: 200 }, () => ({ id, dueAt: new Date().toISOString() }));
    expect(countJsonBytes({ projectId: id, emailIds: [], carried: { waiting: messages } })).toBeLessThan(PAYLOAD_MAX);
  });
});
