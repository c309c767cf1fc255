import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { createHomePath, listPids, removeHome, type StartedService, waitForCondition } from '../support/start.ts';
import { until } from '../support/until.ts';

const RECIPIENTS = 5_000;
/**
 * The maximum number of emails in doubt in one worker process (activities/campaigns/campaigns.ts). They may arrive
 * twice after a kill.
 */
const IN_DOUBT_MAX = 70;

let home: string;
let sink: SinkProcess;
let service: StartedService;
let campaignId: string;

beforeAll(async () => {
  home = createHomePath();
  // The sink delays each packet, so that the campaign still runs when a process is killed.
  sink = await startSinkProcess(['--latency=20']);
  service = await startService();
  await insertContacts();
});

beforeEach(async () => {
  await sink.reset();
  campaignId = (await call('POST', '/campaigns', createCampaignFields())).data.id;
});

afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink?.stop();
  await removeHome(home);
});

const startService = () => startSmtpService(home, sink.url);

function createCampaignFields() {
  const from = `news@${service.dev().domain}`;
  return {
    name: 'N',
    subject: 'S',
    body: '<p>Hello {{firstName}} <a href="https://e.test/">x</a></p>',
    from,
    audienceType: 'ALL',
  };
}

const call = (method: string, path: string, body?: unknown) => callService(service, method, path, body);

async function runQuery<T>(text: string, values: unknown[]): Promise<T[]> {
  const client = new pg.Client(service.dev().databaseUrl);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function insertContacts(): Promise<void> {
  await runQuery(
    `INSERT INTO contacts (project_id, email, subscribed, data)
     SELECT $1, 'r' || n || '@kill.test', true, jsonb_build_object('firstName', 'Ada') FROM generate_series(1, $2::int) n`,
    [service.dev().projectId, RECIPIENTS],
  );
}

/** Starts the campaign and waits until about a third of the emails have arrived. */
async function sendAndWaitForTheMiddle(): Promise<number> {
  await call('POST', `/campaigns/${campaignId}/send`, {});
  await waitForCondition(service, async () => (await sink.counts()).messages > RECIPIENTS / 3);
  return (await sink.counts()).messages;
}

async function waitUntilSent(): Promise<void> {
  await until(async () => {
    // Postgres may still be starting.
    const stats = await call('GET', `/campaigns/${campaignId}/stats`).catch(() => undefined);
    if (!stats) return false;
    expect(stats.pending + stats.sent + stats.failed + stats.skipped).toBe(stats.total);
    return stats.pending === 0 && (await call('GET', `/campaigns/${campaignId}`)).status === 'SENT';
  }, 'the campaign SENT');
}

/**
 * Expects that every recipient was reached, that at most `doubledMax` emails were repeated with the same Message-ID,
 * and that the statistics match.
 */
async function expectAllReached(doubledMax: number): Promise<void> {
  const messages = await sink.messages();
  const idsOf = new Map<string, string[]>();
  for (const { to, messageId } of messages) idsOf.set(to, [...(idsOf.get(to) ?? []), messageId]);
  expect(idsOf.size).toBe(RECIPIENTS);
  const doubled = [...idsOf.values()].filter((ids) => ids.length > 1);

  expect(doubled.length).toBeLessThanOrEqual(doubledMax);
  expect(doubled.every((ids) => new Set(ids).size === 1)).toBe(true);
  const stats = await call('GET', `/campaigns/${campaignId}/stats`);
  expect(stats).toMatchObject({ total: RECIPIENTS, sent: RECIPIENTS, pending: 0, failed: 0, skipped: 0 });
  const events = await runQuery<{ n: string }>(
    `SELECT count(*) AS n FROM events WHERE name = 'email.sent' AND project_id = $1
       AND email_id IN (SELECT id FROM emails WHERE campaign_id = $2)`,
    [service.dev().projectId, campaignId],
  );
  expect(Number(events[0]?.n)).toBe(RECIPIENTS);
}

describe('kill -9 in the middle of a campaign to 5,000 recipients', () => {
  it('a killed worker misses no recipient, and repeats at most the worker’s emails in flight', async () => {
    const before = await sendAndWaitForTheMiddle();
    expect(before).toBeLessThan(RECIPIENTS);
    for (const pid of service.dev().pids.workers) process.kill(pid, 'SIGKILL');
    await waitUntilSent();
    await expectAllReached(2 * IN_DOUBT_MAX);
  });

  it('a campaign whose Postgres is killed misses no recipient', async () => {
    await sendAndWaitForTheMiddle();
    process.kill(service.dev().pids.postgres ?? 0, 'SIGKILL');
    await waitUntilSent();
    await expectAllReached(2 * IN_DOUBT_MAX);
  });

  it('a campaign whose Temporal is killed misses no recipient', async () => {
    await sendAndWaitForTheMiddle();
    process.kill(service.dev().pids.temporal ?? 0, 'SIGKILL');
    await waitUntilSent();
    await expectAllReached(2 * IN_DOUBT_MAX);
  });

  it('a campaign whose processes are all killed misses no recipient after the next start', async () => {
    await sendAndWaitForTheMiddle();
    for (const pid of listPids(service.dev())) process.kill(pid, 'SIGKILL');
    await service.exited;
    service = await startService();
    await waitUntilSent();
    await expectAllReached(2 * IN_DOUBT_MAX);
  });
});
