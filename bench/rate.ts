import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { readInstallationNames } from '../test/support/names.ts';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { callService } from '../test/support/smtp/smtp-service.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../test/support/start.ts';

/**
 * Measures how exactly the service keeps a project's send rate. Sends two campaigns and single emails of one project at
 * the same time, for each limit and each number of worker processes. The rate is measured at the sink, from the first
 * email on. The time of a single email is from its acceptance until it is recorded as sent. The number of campaign
 * emails that were sent in this time shows whether single emails waited behind campaigns.
 */
const { values } = parseArgs({
  options: {
    limits: { type: 'string', default: '14,50,500' },
    workers: { type: 'string', default: '1,3,6' },
    seconds: { type: 'string', default: '30' },
  },
});
const seconds = Number(values.seconds);
/** Single emails per second. A higher number would measure how fast the API accepts emails. */
const SINGLES_MAX = 5;
const limits = values.limits.split(',').map(Number);
const table: Record<string, string | number>[] = [];
for (const workers of values.workers.split(',')) await measureWithWorkers(workers);
console.table(table);
console.log(
  'Expected: 0.97 to 1.02 of the limit, 0 failed, about one activity in ten seconds per campaign, single emails first.',
);

async function measureWithWorkers(workers: string): Promise<void> {
  const home = createHomePath();
  const sink = await startSinkProcess(['--no-record']);
  const env = {
    WORKERS: workers,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    DKIM_SIGN: 'off',
    RATE_LIMIT_PER_MINUTE: '0',
  };
  const service = await startService({ home, env });
  const database = new pg.Client(service.dev().databaseUrl);
  try {
    await database.connect();
    await insertContacts(database, service.dev().projectId);
    for (const limit of limits) table.push({ workers, ...(await measureRound({ service, database, sink, limit })) });
  } finally {
    await database.end();
    service.signal('SIGTERM');
    await service.exited;
    await sink.stop();
    await removeHome(home);
  }
}

interface Stage {
  service: StartedService;
  database: pg.Client;
  sink: SinkProcess;
  limit: number;
}

async function measureRound(stage: Stage): Promise<Record<string, string | number>> {
  const { service, database, sink, limit } = stage;
  const { projectId, domain } = service.dev();
  await database.query('UPDATE projects SET send_rate_per_second = $2 WHERE id = $1', [projectId, limit]);
  await database.query('DELETE FROM send_buckets');
  const since = new Date();
  await sink.reset();
  const body = { name: 'Rate', subject: 'S', body: '<p>{{n}}</p>', from: `news@${domain}`, audienceType: 'ALL' };
  const ids: string[] = [];
  for (let n = 0; n < 2; n++) ids.push((await callService(service, 'POST', '/campaigns', body)).data.id);
  for (const id of ids) await callService(service, 'POST', `/campaigns/${id}/send`, {});
  while ((await sink.counts()).messages === 0) await sleep(5);
  const startedAt = performance.now();
  await sendSingles(stage, startedAt + seconds * 1_000);
  const { messages } = await sink.counts();
  const tookMs = performance.now() - startedAt;
  for (const id of ids) await callService(service, 'POST', `/campaigns/${id}/cancel`);
  await waitUntilAllSent(database, projectId, since);
  const { rows: failed } = await database.query(
    `SELECT count(*)::int AS n FROM emails WHERE project_id = $1 AND created_at >= $2 AND status = 'FAILED' AND reason <> 'cancelled'`,
    [projectId, since],
  );
  const singles = await summarizeSinglesSince(database, projectId, since);
  const activities = await countActivities(service, ids);
  return {
    limit,
    'of the limit': (messages / ((tookMs / 1_000) * limit)).toFixed(3),
    failed: failed[0].n,
    ...singles,
    'activities in 10 s a campaign': ((activities / ids.length / tookMs) * 10_000).toFixed(1),
  };
}

/** Sends single emails at 10 % of the limit until `untilAt`, at least one and at most `SINGLES_MAX` per second. */
async function sendSingles({ service, limit }: Stage, untilAt: number): Promise<void> {
  const from = `hello@${service.dev().domain}`;
  const gapMs = 1_000 / Math.min(SINGLES_MAX, Math.max(1, limit / 10));
  const under: Promise<unknown>[] = [];
  for (let n = 0; performance.now() < untilAt; n++) {
    const nextAt = performance.now() + gapMs;
    // The recipient is an existing contact. A new address would create a contact without consent, and later campaigns
    // would skip this contact.
    const email = { to: `r${n + 1}@bench.test`, from, subject: 'One', body: '<p>One</p>' };
    under.push(callService(service, 'POST', '/v1/send', email));
    await sleep(Math.max(0, Math.min(nextAt, untilAt) - performance.now()));
  }
  await Promise.all(under);
}

/** Returns columns of the table: the number of single emails, their latencies, and the campaign emails in between. */
async function summarizeSinglesSince(database: pg.Client, projectId: string, since: Date) {
  const { rows } = await database.query(
    `WITH singles AS (
       SELECT created_at, sent_at, extract(epoch FROM sent_at - created_at) * 1000 AS ms FROM emails
       WHERE project_id = $1 AND created_at >= $2 AND source_type = 'TRANSACTIONAL' AND sent_at IS NOT NULL),
     overtaken AS (
       SELECT s.ms, (SELECT count(*) FROM emails e WHERE e.project_id = $1 AND e.created_at >= $2 AND e.campaign_id IS NOT NULL
         AND e.sent_at BETWEEN s.created_at AND s.sent_at) AS emails FROM singles s)
     SELECT count(*)::int AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50, percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) AS p99,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY emails) AS between FROM overtaken`,
    [projectId, since],
  );
  const { n, p50, p99, between } = rows[0];
  return {
    'single emails': n,
    'p50 ms': Math.round(p50),
    'p99 ms': Math.round(p99),
    'campaign emails in between, p50': between,
  };
}

/** Returns the number of activities that sent the campaigns, without activities that read audiences. */
async function countActivities(service: StartedService, ids: string[]): Promise<number> {
  const { address, namespace } = service.dev().temporal;
  const connection = await Connection.connect({ address });
  const installation = await readInstallationNames(service);
  try {
    const client = new Client({ connection, namespace });
    const counts = ids.map(async (id) => {
      const { events } = await client.workflow.getHandle(installation.campaign(id, 1)).fetchHistory();
      const names = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
      return names.filter((name) => name === 'sendCampaignChunk').length;
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  } finally {
    await connection.close();
  }
}

/** Waits until all emails of this round are sent, because the next round would count them. */
async function waitUntilAllSent(database: pg.Client, projectId: string, since: Date): Promise<void> {
  for (;;) {
    const { rows } = await database.query(
      `SELECT EXISTS (SELECT FROM emails WHERE project_id = $1 AND created_at >= $2 AND status IN ('PENDING', 'SENDING', 'HELD')) AS open`,
      [projectId, since],
    );
    if (!rows[0].open) return;
    await sleep(50);
  }
}

/** Inserts more contacts than both campaigns can reach in the measured time. */
async function insertContacts(database: pg.Client, projectId: string): Promise<void> {
  await database.query(
    `INSERT INTO contacts (project_id, email, subscribed, data)
     SELECT $1, 'r' || n || '@bench.test', true, jsonb_build_object('n', n) FROM generate_series(1, $2::int) AS n`,
    [projectId, Math.max(...limits) * (seconds + 10)],
  );
  await database.query('VACUUM ANALYZE contacts');
}
