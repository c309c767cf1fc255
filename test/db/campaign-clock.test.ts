import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import { findChunkTiming, type OpenGate } from '../../db/campaigns/chunk-clock.ts';
import { inTransaction } from '../../db/transaction.ts';
import { updateProject } from '../../engine/projects/project-changes.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import {
  buildSendingCampaign,
  type CampaignWorker,
  claimFirstRecipients,
  createCampaignWorker,
} from '../support/campaign-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let worker: CampaignWorker;
let projectId: string;
let start: CampaignStart;

beforeAll(async () => {
  database = await createTestDatabase();
  worker = createCampaignWorker({ db: database.db, smtpUrl: 'smtp://127.0.0.1:1' });
});
beforeEach(async () => {
  projectId = (await buildProject(database.db, 'Clock')).id;
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
  start = await buildSendingCampaign(database.db, { projectId, count: 10, worker });
});
afterAll(async () => {
  await worker?.close();
  await database?.drop();
});

const updateSettings = (changes: Parameters<typeof updateProject>[1]['changes']) =>
  inTransaction(database.db, (trx) => updateProject(trx, { projectId, changes }));

/** Claims recipients with settings that were read earlier. Returns the number of claimed recipients. */
async function claimChunk(clock: OpenGate): Promise<number> {
  return claimFirstRecipients(database.db, start, { size: 100, clock });
}
const readClockKey = async () => (await findChunkTiming(database.db, { ...start, seq: 1 }))?.key ?? '';

describe('the statement that claims recipients', () => {
  it('claims no recipient after the sending window has closed, although it was open at the start of the turn', async () => {
    const key = await readClockKey();
    expect(await claimChunk({ key, closesAt: new Date(Date.now() - 1) })).toBe(0);
    expect(await claimChunk({ key, closesAt: new Date(Date.now() + 60_000) })).toBe(10);
  });

  it('claims no recipient if the window or time zone has changed since its settings were read', async () => {
    const key = await readClockKey();
    const sendingWindow = { from: '08:00', to: '09:00', days: [1] };
    const projects = [{ sendingWindow }, { timezone: 'Asia/Kathmandu' }];
    for (const changes of projects) {
      const before = await readClockKey();
      await updateSettings(changes);
      expect(await claimChunk({ key: before, closesAt: null })).toBe(0);
    }
    await updateSettings({ sendingWindow: null, timezone: 'UTC' });
    expect(await claimChunk({ key, closesAt: null })).toBe(10);
  });
});

describe('the recipients of a campaign by time zone', () => {
  it('are divided into chunks of one time zone, which do not overlap and omit no recipient', async () => {
    const zones = ['Europe/Berlin', 'Asia/Kathmandu', 'US/Eastern', 'America/New_York', 'Mars/Olympus'];
    const other = (await buildProject(database.db, 'Zones')).id;
    await buildDomain(database.db, { projectId: other, domain: 'sender.test', signing: false });
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${other}, 'z' || n || '@to.test', true, jsonb_build_object('timezone', (${zones}::text[])[1 + n % 5])
      FROM generate_series(1, 35000) AS n`.execute(database.db);
    const { rows: made } = await sql<{ id: string }>`
      INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, send_at_local, status, send_no, started_at)
      VALUES (${other}, 'N', 'S', 'B', 'a@sender.test', 'ALL', '2030-01-01T09:00', 'SENDING', 1, now()) RETURNING id`.execute(
      database.db,
    );
    const zoned = { projectId: other, campaignId: made[0]?.id ?? '', sendNo: 1 };
    await worker.read(zoned);
    expect(await worker.take(zoned)).toMatchObject({ outcome: 'taken', done: true, recipients: 35_000 });
    const { rows } = await sql<{ zone: string | null; n: number; strangers: number }>`
      SELECT k.zone, count(*) AS n, count(*) FILTER (WHERE e.campaign_id <> k.campaign_id) AS strangers
      FROM campaign_chunks k JOIN emails e ON e.id BETWEEN k.first_id AND k.last_id AND e.project_id = k.project_id
      WHERE k.campaign_id = ${zoned.campaignId} GROUP BY 1 ORDER BY 1 NULLS LAST`.execute(database.db);
    expect(rows).toEqual([
      { zone: 'America/New_York', n: 14_000, strangers: 0 },
      { zone: 'Asia/Katmandu', n: 7_000, strangers: 0 },
      { zone: 'Europe/Berlin', n: 7_000, strangers: 0 },
      { zone: null, n: 7_000, strangers: 0 },
    ]);
    const { rows: wrong } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM campaign_chunks k
      JOIN emails e ON e.id BETWEEN k.first_id AND k.last_id JOIN contacts c ON c.id = e.contact_id
      WHERE k.campaign_id = ${zoned.campaignId} AND (k.zone = 'Europe/Berlin') <> (c.data->>'timezone' = 'Europe/Berlin')`.execute(
      database.db,
    );
    expect(wrong[0]?.n).toBe(0);
  });
});
