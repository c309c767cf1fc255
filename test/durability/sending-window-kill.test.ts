import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { updateProject } from '../../engine/projects/project-changes.ts';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { until } from '../support/until.ts';

const RECIPIENTS = 1_200;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let temporal: TestTemporal;
let sink: SinkProcess;
const running: HostProcess[] = [];

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  sink = await startSinkProcess([]);
});
afterAll(async () => {
  await Promise.all(running.map((host) => host.kill()));
  await sink?.stop();
  await database?.drop();
});

async function startWorker(): Promise<HostProcess> {
  const env = { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, DKIM_SIGN: 'off' };
  const host = await startWorkerHost({ database, temporal, env });
  running.push(host);
  return host;
}

const getHourIn = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().slice(11, 16);
const setWindow = (projectId: string, window: { from: string; to: string } | null) =>
  inTransaction(database.db, (trx) =>
    updateProject(trx, { projectId, changes: { sendingWindow: window && { ...window, days: [1, 2, 3, 4, 5, 6, 7] } } }),
  );

/** Returns the number of recipients, and of their waiting chunks. */
async function countWaiting(campaignId: string): Promise<{ taken: number; open: number; waiting: number }> {
  const { rows } = await sql<{ taken: number; open: number; waiting: number }>`
    SELECT coalesce(sum(size), 0)::int AS taken, count(*) AS open, count(not_before) AS waiting
    FROM campaign_chunks WHERE campaign_id = ${campaignId}`.execute(database.db);
  return rows[0] ?? { taken: 0, open: 0, waiting: 0 };
}

it('a campaign whose worker is killed while it waits for the window is sent to every contact once when it opens', async () => {
  const { id: projectId } = await buildProject(database.db, 'Window');
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
  await buildContacts(database.db, { projectId, count: RECIPIENTS });
  await setWindow(projectId, { from: getHourIn(2), to: getHourIn(3) });
  const { campaignId } = await buildStartedCampaign(database.db, { projectId });
  const first = await startWorker();
  await until(async () => {
    const { taken, open, waiting } = await countWaiting(campaignId);
    return taken === RECIPIENTS && open === waiting;
  }, 'everybody to wait');
  await first.kill();
  expect((await sink.counts()).messages).toBe(0);
  await setWindow(projectId, null);
  await startWorker();
  await until(async () => {
    const { rows } = await sql<{ status: string }>`SELECT status FROM campaigns WHERE id = ${campaignId}`.execute(
      database.db,
    );
    return rows[0]?.status === 'SENT';
  }, 'the campaign to be sent');
  const times = Object.values(await sink.recipients());
  expect(times).toHaveLength(RECIPIENTS);
  expect(times.every((n) => n === 1)).toBe(true);
});
