import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SinkProcess, startSinkProcess } from '../support/smtp/sink-process.ts';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { createHomePath, listPids, removeHome, type StartedService, waitForCondition } from '../support/start.ts';
import { until } from '../support/until.ts';

const RECIPIENTS = 5_000;
/**
 * The share of the test: 30 % of 5,000 recipients are 1,500 contacts. Three contacts get A for each contact that gets B.
 */
const SHARE = 0.3;
const TESTED = { A: 1_125, B: 375 };
/** The maximum number of emails in doubt in two worker processes. They may arrive twice after both are killed. */
const IN_DOUBT_MAX = 140;
const KILLS = 3;

let home: string;
let sink: SinkProcess;
let service: StartedService;

beforeAll(async () => {
  home = createHomePath();
  // The sink delays each packet, so that the campaign runs long enough to be killed.
  sink = await startSinkProcess(['--latency=20']);
  service = await startSmtpService(home, sink.url);
});

afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink?.stop();
  await removeHome(home);
});

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

async function killWorkers(): Promise<void> {
  for (const pid of service.dev().pids.workers) process.kill(pid, 'SIGKILL');
}

/** Waits until the condition is true for the campaign, and returns the campaign. Postgres may still be starting. */
function waitForCampaign(id: string, what: string, is: (campaign: Record<string, unknown>) => boolean) {
  return until(async () => {
    const campaign = await call('GET', `/campaigns/${id}`).catch(() => undefined);
    return campaign && is(campaign) ? campaign : undefined;
  }, what);
}

async function waitForMessages(messages: number): Promise<void> {
  await waitForCondition(service, async () => (await sink.counts()).messages > messages);
}

it('after kill -9 before, during and after the wait of an A/B test, no recipient is missed or changes variant', async () => {
  await runQuery(
    `INSERT INTO contacts (project_id, email, subscribed) SELECT $1, 'r' || n || '@kill.test', true FROM generate_series(1, $2::int) n`,
    [service.dev().projectId, RECIPIENTS],
  );
  const draft = await call('POST', '/campaigns', {
    name: 'N',
    subject: 'A',
    body: '<p>Hello</p>',
    from: `news@${service.dev().domain}`,
    audienceType: 'ALL',
    variants: [
      { name: 'A', weight: 3 },
      { name: 'B', weight: 1, subject: 'B' },
    ],
    test: { share: SHARE, metric: 'opens', waitMinutes: 0.5 },
  });
  const { id } = draft.data;
  await call('POST', `/campaigns/${id}/send`, {});

  await waitForMessages(100);
  await killWorkers();
  const waiting = await waitForCampaign(id, 'the test to wait', ({ testState }) => testState === 'WAITING');
  expect(waiting).toMatchObject({ winner: null, sentCount: 1_500, pendingCount: 3_500, totalRecipients: RECIPIENTS });
  const places = await runQuery(
    'SELECT contact_id, variant FROM emails WHERE campaign_id = $1 AND variant IS NOT NULL',
    [id],
  );
  expect(places).toHaveLength(1_500);
  await runQuery('UPDATE emails SET opened_at = now() WHERE campaign_id = $1 AND variant = 1', [id]);
  await runQuery('UPDATE campaign_chunks SET figures = NULL WHERE campaign_id = $1', [id]);

  for (const pid of listPids(service.dev())) process.kill(pid, 'SIGKILL');
  await service.exited;
  service = await startSmtpService(home, sink.url);
  const decided = await waitForCampaign(id, 'a winner', ({ winner }) => winner !== null);
  expect(decided).toMatchObject({ winner: 'B', winnerBy: 'test', testEndsAt: waiting.testEndsAt });

  await waitForMessages(RECIPIENTS / 2);
  await killWorkers();
  await waitForCampaign(id, 'the campaign SENT', ({ status }) => status === 'SENT');

  const stats = await call('GET', `/campaigns/${id}/stats`);
  expect(stats).toMatchObject({ total: RECIPIENTS, sent: RECIPIENTS, pending: 0, failed: 0, skipped: 0 });
  expect(stats.variants).toMatchObject([
    { name: 'A', sent: TESTED.A, winner: false },
    { name: 'B', sent: TESTED.B + 3_500, winner: true },
  ]);
  expect(stats.comparison).toMatchObject({ leader: 'B', significant: true });
  const changed = await runQuery(
    `SELECT e.id FROM emails e JOIN campaigns c ON c.id = e.campaign_id JOIN jsonb_to_recordset($2::jsonb) AS p (contact_id uuid, variant int)
       ON p.contact_id = e.contact_id
     WHERE e.campaign_id = $1 AND (e.variant <> p.variant OR e.content_id <> c.variant_content_ids[p.variant + 1])`,
    [id, JSON.stringify(places)],
  );
  expect(changed).toEqual([]);

  const idsOf = new Map<string, string[]>();
  for (const { to, messageId } of await sink.messages()) idsOf.set(to, [...(idsOf.get(to) ?? []), messageId]);
  expect(idsOf.size).toBe(RECIPIENTS);
  const doubled = [...idsOf.values()].filter((ids) => ids.length > 1);
  expect(doubled.length).toBeLessThanOrEqual(KILLS * IN_DOUBT_MAX);
  expect(doubled.every((ids) => new Set(ids).size === 1)).toBe(true);
});
