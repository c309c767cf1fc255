import { parseArgs } from 'node:util';
import pg from 'pg';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, startService } from '../test/support/start.ts';
import { BODY, SUBJECT } from './campaign-content.ts';
import { insertContacts, waitForSink } from './campaign-stage.ts';
import { type ApiClient, createApiClient, runConcurrently } from './load/api-client.ts';
import { createTemplate, createWorkflow } from './load/projects.ts';

/**
 * Measures emails per second with one, two and four worker processes, for providers that reply after 20, 100 and 500
 * ms. The emails are from a campaign, single sends, and executions with one email each. A rate counts the time from the
 * arrival of the first email at the sink to the arrival of the last. Prints a table, and a plot of each kind for
 * docs/measurements.md.
 */
const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4' },
    latencies: { type: 'string', default: '20,100,500' },
    executions: { type: 'string', default: '300' },
  },
});
const WORKERS = values.workers.split(',').map(Number);
const LATENCIES = values.latencies.split(',').map(Number);
const EXECUTIONS = Number(values.executions);
/**
 * The number of connections of each worker process to the provider. A connection sends its next email when the reply to
 * the previous one has arrived.
 */
const CONNECTIONS = 20;
/** A campaign has as many recipients as the connections send in this time, between a minimum and a maximum. */
const CAMPAIGN_SECONDS = 20;
const RECIPIENTS_MIN = 2_000;
const RECIPIENTS_MAX = 60_000;
/** The number of concurrent requests. */
const CONCURRENCY = 64;
/** Emails before the measurements, so that the connections are open and the code is compiled. */
const WARM_UP = 500;

interface Rates {
  workers: number;
  latencyMs: number;
  campaign: number;
  singles: number;
  executions: number;
}

const all: Rates[] = [];
for (const latencyMs of LATENCIES) {
  for (const workers of WORKERS) all.push(await measureRates(workers, latencyMs));
}
console.table(all);
for (const kind of ['campaign', 'singles', 'executions'] as const) console.log(buildPlot(kind));

async function measureRates(workers: number, latencyMs: number): Promise<Rates> {
  const home = createHomePath();
  const sink = await startSinkProcess(['--no-record', `--latency=${latencyMs}`]);
  const service = await startService({
    home,
    env: {
      WORKERS: String(workers),
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: sink.url,
      DKIM_SIGN: 'off',
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'warn',
    },
  });
  try {
    const { baseUrl, secretKey, domain, projectId, databaseUrl } = service.dev();
    const client = createApiClient({ baseUrl, key: secretKey });
    const recipientsInTime = (CAMPAIGN_SECONDS * workers * CONNECTIONS * 1_000) / latencyMs;
    const recipients = Math.max(RECIPIENTS_MIN, Math.min(RECIPIENTS_MAX, Math.round(recipientsInTime)));
    await measureSinglesRate(client, { domain, sink, count: WARM_UP });
    const singles = await measureSinglesRate(client, {
      domain,
      sink,
      count: Math.min(10_000, Math.round(recipientsInTime / 2)),
    });
    const executions = await measureExecutionsRate(client, { domain, sink });
    const database = new pg.Client(databaseUrl);
    await database.connect();
    await insertContacts(database, { projectId, from: 1, to: recipients });
    await database.end();
    const campaign = await measureCampaignRate(client, { domain, sink, recipients });
    await client.close();
    return { workers, latencyMs, campaign, singles, executions };
  } finally {
    service.signal('SIGTERM');
    await service.exited;
    await sink.stop();
    await removeHome(home);
  }
}

/** Runs `work` and returns the emails per second at the sink, from the first email to the last of `count`. */
async function measureEmailsPerSecond(sink: SinkProcess, count: number, work: () => Promise<unknown>): Promise<number> {
  await sink.reset();
  const startedAt = performance.now();
  const working = work();
  const firstAt = await waitForSink(sink, 1, startedAt);
  const lastAt = await waitForSink(sink, count, startedAt);
  await working;
  return Math.round((count * 1_000) / (lastAt - firstAt));
}

function measureSinglesRate(
  client: ApiClient,
  p: { domain: string; sink: SinkProcess; count: number },
): Promise<number> {
  return measureEmailsPerSecond(p.sink, p.count, () =>
    runConcurrently({ total: p.count, concurrency: CONCURRENCY }, (n) =>
      client.callOk('POST', '/v1/send', {
        to: `single${n}@bench.test`,
        from: `hello@${p.domain}`,
        subject: 'Your code',
        body: '<p>Your code is 4711.</p>',
      }),
    ),
  );
}

async function measureExecutionsRate(client: ApiClient, p: { domain: string; sink: SinkProcess }): Promise<number> {
  const templateId = await createTemplate(client, p.domain);
  await createWorkflow(client, 'scale', [
    ['SEND_EMAIL', { templateId }],
    ['EXIT', {}],
  ]);
  return measureEmailsPerSecond(p.sink, EXECUTIONS, () =>
    runConcurrently({ total: EXECUTIONS, concurrency: CONCURRENCY }, (n) =>
      client.callOk('POST', '/v1/track', { email: `run${n}@bench.test`, event: 'scale', data: { name: 'Ada' } }),
    ),
  );
}

async function measureCampaignRate(
  client: ApiClient,
  p: { domain: string; sink: SinkProcess; recipients: number },
): Promise<number> {
  const filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
  const { data } = await client.callOk('POST', '/campaigns', {
    name: 'Scale',
    subject: SUBJECT,
    body: BODY,
    from: `news@${p.domain}`,
    audienceType: 'FILTERED',
    audienceFilter: { logic: 'AND', groups: [{ filters: [filter] }] },
  });
  return measureEmailsPerSecond(p.sink, p.recipients, () => client.callOk('POST', `/campaigns/${data.id}/send`, {}));
}

/** Returns a Mermaid chart of the rate by the number of workers, with a line for each reply time of the provider. */
function buildPlot(kind: 'campaign' | 'singles' | 'executions'): string {
  const lines = LATENCIES.map((latencyMs) => {
    const rates = all.filter((rate) => rate.latencyMs === latencyMs).map((rate) => rate[kind]);
    return `  line "${latencyMs} ms" [${rates.join(', ')}]`;
  });
  const axes = [`  x-axis "worker processes" [${WORKERS.join(', ')}]`, '  y-axis "emails per second"'];
  return ['```mermaid', 'xychart-beta', `  title "${kind}"`, ...axes, ...lines, '```'].join('\n');
}
