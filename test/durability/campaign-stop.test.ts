import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContacts, buildStartedCampaign } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { until } from '../support/until.ts';

const RECIPIENTS = 5_000;

let database: TestDatabase;
let temporal: TestTemporal;
let sink: SinkProcess;
const running: HostProcess[] = [];

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  // The sink delays each packet, so that the campaign runs long enough.
  sink = await startSinkProcess(['--latency=50']);
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

/** Builds a started campaign. Its outbox row waits for the next worker. */
async function sendCampaign(): Promise<string> {
  const { id: projectId } = await buildProject(database.db, 'Stop');
  await buildDomain(database.db, { projectId, domain: 'sender.test', signing: false });
  await buildContacts(database.db, { projectId, count: RECIPIENTS });
  return (await buildStartedCampaign(database.db, { projectId })).campaignId;
}

async function countStatuses(campaignId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ status: string; n: number }>`
    SELECT status, count(*) AS n FROM emails WHERE campaign_id = ${campaignId} GROUP BY status`.execute(database.db);
  return Object.fromEntries(rows.map((row) => [row.status, row.n]));
}

it('other workers complete the campaign of a stopped worker, and no recipient gets two emails', async () => {
  const campaignId = await sendCampaign();
  const first = await startWorker();
  await until(async () => (await sink.counts()).messages > 300, 'the middle of the campaign');
  await first.stop();
  const left = await countStatuses(campaignId);
  expect(left.SENT).toBe((await sink.counts()).messages);
  expect(left.SENT).toBeLessThan(RECIPIENTS / 2);
  expect(Object.keys(left).sort()).toEqual(['PENDING', 'SENT']);
  const { rows } = await sql`SELECT FROM emails WHERE campaign_id = ${campaignId} AND attempts > 0`.execute(
    database.db,
  );
  expect(rows).toHaveLength(left.SENT ?? 0);

  await startWorker();
  await until(async () => (await countStatuses(campaignId)).SENT === RECIPIENTS, 'the rest of the campaign');
  const times = Object.values(await sink.recipients());
  expect(times).toHaveLength(RECIPIENTS);
  expect(times.every((n) => n === 1)).toBe(true);
});
