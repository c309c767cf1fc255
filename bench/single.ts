import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import nodemailer from 'nodemailer';
import { getMonotonicMs } from '../test/support/smtp/sink-process.ts';
import { insertContacts } from './load/projects.ts';
import { roundToTenths } from './load/round.ts';
import { computePercentile } from './tenants-load.ts';
import { waitUntil } from './tenants-scenarios.ts';
import { startTenantServers, type TenantStage } from './tenants-stage.ts';

/**
 * Measures one email at a time, from the request to the end of the SMTP command DATA at the sink. Compares the service
 * with nodemailer, which runs in this process and keeps one connection to the same sink. Measures first on an idle
 * service, with the number of database transactions per email, and then while another tenant sends a campaign.
 */
const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '200' },
    recipients: { type: 'string', default: '500000' },
    workers: { type: 'string', default: '2' },
  },
});
const emails = Number(values.emails);
const MESSAGE = { subject: 'One', body: '<p>One</p>' };
const WARM_UP = 200;
/** The pause after each email. The remaining work of the email ends in this time, so the service is idle again. */
const PAUSE_MS = 50;
const IDLE_MS = 15_000;
/** Postgres adds the transactions of a connection to its statistics up to a second after the last transaction. */
const STATISTICS_MS = 2_000;

interface Row {
  sender: string;
  service: string;
  emails: number;
  p50: number;
  p99: number;
  max: number;
}

const stage = await startTenantServers({ workers: values.workers });
const transport = nodemailer.createTransport({
  pool: true,
  maxConnections: 1,
  maxMessages: Number.POSITIVE_INFINITY,
  host: '127.0.0.1',
  port: stage.sink.port,
});
try {
  await compareSenders('warm', WARM_UP);
  const idleSince = getMonotonicMs();
  const idleTransactions = await countTransactionsDuring(() => sleep(IDLE_MS));
  // The count includes the wait for Postgres's statistics.
  const idleRate = idleTransactions / (getMonotonicMs() - idleSince);
  const startedAt = getMonotonicMs();
  let idle: Row[] = [];
  const transactions = await countTransactionsDuring(async () => {
    idle = await compareSenders('idle', emails);
  });
  const own = (transactions - idleRate * (getMonotonicMs() - startedAt)) / emails;
  const campaignId = await startCampaign(stage);
  const busy = await compareSenders('busy', emails);
  const stillBusy = (await readStatus(stage, campaignId)) === 'SENDING';
  await stage.a.client.call('POST', `/campaigns/${campaignId}/cancel`, {});
  console.log('\nOne email at a time, ms from the request, or the call of nodemailer, to the end of DATA');
  console.table([...idle, ...busy]);
  for (const rows of [idle, busy]) console.log(describeDifference(rows));
  console.log(
    `${roundToTenths(own)} transactions per email; the idle service makes ${roundToTenths(idleRate * 1_000)} per second`,
  );
  if (!stillBusy) console.log('The campaign ended before the measurement did: use more --recipients.');
} finally {
  transport.close();
  await stage.close();
}

/**
 * Sends `count` emails by the service and `count` by nodemailer. Each email is sent when the previous one has arrived.
 */
async function compareSenders(service: string, count: number): Promise<Row[]> {
  const ours = await measureSender('Tidings', service, count, (to) =>
    stage.b.client.callOk('POST', '/v1/send', { ...MESSAGE, from: `hello@${stage.b.domain}`, to }),
  );
  const bare = await measureSender('nodemailer', service, count, (to) =>
    transport.sendMail({ subject: MESSAGE.subject, html: MESSAGE.body, from: `hello@${stage.b.domain}`, to }),
  );
  return [ours, bare];
}

async function measureSender(
  sender: string,
  service: string,
  count: number,
  send: (to: string) => Promise<unknown>,
): Promise<Row> {
  const prefix = `t-${service}-${sender}-`.toLowerCase();
  const sentAt = new Map<string, number>();
  for (let n = 0; n < count; n += 1) {
    const to = `${prefix}${n}@load.test`;
    sentAt.set(to, getMonotonicMs());
    await send(to);
    await waitUntil(async () => (await stage.sink.arrived(to)).count > 0, getMonotonicMs() + 10_000);
    await sleep(PAUSE_MS);
  }
  const arrivals = await stage.sink.arrivals(prefix);
  const times = [...sentAt].map(([to, at]) => (arrivals[to] ?? Number.POSITIVE_INFINITY) - at).sort((x, y) => x - y);
  return {
    sender,
    service,
    emails: count,
    p50: computePercentile(times, 0.5),
    p99: computePercentile(times, 0.99),
    max: computePercentile(times, 1),
  };
}

function describeDifference([ours, bare]: Row[]): string {
  if (!ours || !bare) return '';
  const above = `p50 ${ours.p50 - bare.p50} ms, p99 ${ours.p99 - bare.p99} ms`;
  return `Above nodemailer, ${ours.service}: ${above} (goal: 10 and 30)`;
}

/** Returns the number of transactions that Postgres commits while `work` runs. */
async function countTransactionsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = await countTransactions();
  await work();
  await sleep(STATISTICS_MS);
  return (await countTransactions()) - before;
}

async function countTransactions(): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT xact_commit::float8 AS n FROM pg_stat_database WHERE datname = current_database()`.execute(stage.db);
  return rows[0]?.n ?? 0;
}

/** Starts a campaign of tenant A, and returns its id. */
async function startCampaign({ a, db }: TenantStage): Promise<string> {
  await insertContacts(db, { projectId: a.id, count: Number(values.recipients), localPart: 'r' });
  const { data } = await a.client.callOk('POST', '/campaigns', {
    name: 'Busy',
    subject: 'News',
    body: '<p>News</p>',
    from: `news@${a.domain}`,
    audienceType: 'ALL',
  });
  await a.client.callOk('POST', `/campaigns/${data.id}/send`, {});
  await waitUntil(async () => (await readStatus(stage, data.id)) === 'SENDING', getMonotonicMs() + 10_000);
  return data.id;
}

async function readStatus({ a }: TenantStage, id: string): Promise<string> {
  return (await a.client.callOk('GET', `/campaigns/${id}`)).status;
}
