import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { readCpuMs, readPostgresCpuMs } from '../test/support/process-cpu.ts';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../test/support/start.ts';
import { measureNodemailerAndLiquid, measureRawSender } from './campaign-baselines.ts';
import { createNewsletterBody, SUBJECT } from './campaign-content.ts';
import { insertContacts, postToApi, readPeakMegabytes, waitForSink, waitUntilSent } from './campaign-stage.ts';

/**
 * Measures a campaign from `POST /campaigns/{id}/send` to SENT on a complete service: API, Temporal, worker processes,
 * the ledger in Postgres, and an SMTP sink in another process. The baselines are measured before it on the same
 * machine. With `--kill`, ends a worker with SIGKILL in the middle of the campaign, and counts missing emails and
 * emails that arrived twice. With `--tls` or `--dkim`, first sends the same campaign without the option, to show the
 * cost of the option.
 */
const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '100000' },
    // Used instead of `recipients`: one campaign for each number of recipients, smallest first, such as
    // 10000,100000,1000000.
    sizes: { type: 'string', default: '' },
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '2' },
    // Kilobytes of HTML in each email.
    kb: { type: 'string', default: '5' },
    tls: { type: 'boolean', default: false },
    dkim: { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
    baselines: { type: 'boolean', default: true },
    // Milliseconds before each reply of the SMTP sink.
    latency: { type: 'string', default: '0' },
    // Options in NODE_OPTIONS of every process of the service, such as --max-old-space-size=300.
    'node-options': { type: 'string', default: '' },
  },
  allowNegative: true,
});
const SIZES = (values.sizes || values.recipients).split(',').map(Number);
const ROUNDS = values.sizes === '' ? Number(values.rounds) : 1;
const BODY = createNewsletterBody(Number(values.kb));

/** How a campaign is sent. */
interface Way {
  tls: boolean;
  dkim: boolean;
}

/** The rate and the CPU cost of sending a campaign in one way. */
interface Cost {
  perSecond: number;
  /** The CPU time of all processes for one email, including the receiving server. */
  micros: number;
}

const table: Record<string, string | number>[] = [];
const plain = await measureWay({ tls: false, dkim: false }, values.baselines);
const secured = values.tls && values.dkim ? await measureWay({ tls: true, dkim: false }, false) : undefined;
const full = values.tls || values.dkim ? await measureWay({ tls: values.tls, dkim: values.dkim }, false) : undefined;
console.table(table);
if (full && !values.kill) await compareWithParts(full);

/** Measures one way of sending, on a new service. Returns the rate and the cost of the fastest round. */
async function measureWay(way: Way, baselines: boolean): Promise<Cost> {
  const home = createHomePath();
  const sink = await startSinkProcess([
    ...(values.kill ? [] : ['--no-record']),
    ...(way.tls ? ['--tls'] : []),
    `--latency=${values.latency}`,
  ]);
  let service: StartedService | undefined;
  try {
    if (baselines) {
      table.push({ what: 'nodemailer pool + Liquid', ...toRateRow(await measureNodemailerAndLiquid(sink, 10_000)) });
      table.push({ what: 'our sender alone, no ledger', ...toRateRow(await measureRawSender(sink, 60_000)) });
    }
    service = await startService({
      home,
      env: {
        WORKERS: values.workers,
        EMAIL_PROVIDER: 'smtp',
        SMTP_URL: sink.url,
        DKIM_SIGN: way.dkim ? 'on' : 'off',
        RATE_LIMIT_PER_MINUTE: '0',
        ...(values['node-options'] && { NODE_OPTIONS: values['node-options'] }),
      },
    });
    const database = new pg.Client(service.dev().databaseUrl);
    await database.connect();
    const costs: Cost[] = [];
    let contacts = 0;
    for (const recipients of SIZES) {
      await insertContacts(database, { projectId: service.dev().projectId, from: contacts + 1, to: recipients });
      contacts = recipients;
      for (let round = 1; round <= ROUNDS; round++)
        costs.push(await runCampaign({ running: service, database, sink, recipients, round, way }));
    }
    await database.end();
    return costs.reduce((best, cost) => (cost.perSecond > best.perSecond ? cost : best));
  } finally {
    service?.signal('SIGTERM');
    await service?.exited;
    await sink.stop();
    await removeHome(home);
  }
}

async function runCampaign(p: {
  running: StartedService;
  database: pg.Client;
  sink: SinkProcess;
  recipients: number;
  round: number;
  way: Way;
}): Promise<Cost> {
  const { running, database, sink, recipients, round, way } = p;
  await sink.reset();
  const { workers } = running.dev().pids;
  const before = readCpu(running, sink);
  const id = (
    await postToApi(running, '/campaigns', {
      name: 'Bench',
      subject: SUBJECT,
      body: BODY,
      from: `news@${running.dev().domain}`,
      audienceType: 'ALL',
    })
  ).data.id;
  const startedAt = performance.now();
  await postToApi(running, `/campaigns/${id}/send`, {});
  const killed = values.kill ? killWorker(running, sink, recipients) : undefined;
  const firstAt = await waitForSink(sink, 1, startedAt);
  const lastAt = values.kill ? 0 : await waitForSink(sink, recipients, startedAt);
  const doneAt = await waitUntilSent(database, id);
  await killed;
  const after = readCpu(running, sink);
  const seconds = (doneAt - startedAt) / 1000;
  const micros = (part: keyof typeof after) => Math.round(((after[part] - before[part]) * 1000) / recipients);
  const perSecond = Math.round((recipients * 1000) / (lastAt - firstAt));
  table.push({
    what: `campaign${way.tls ? ', TLS' : ''}${way.dkim ? ', DKIM' : ''}, round ${round}${values.kill ? ', a worker killed' : ''}`,
    messages: recipients,
    seconds: roundToHundredths(seconds),
    'msg/s': Math.round(recipients / seconds),
    'msg/s while sending': values.kill ? '' : perSecond,
    'worker CPU µs': values.kill ? '' : micros('workers'),
    'Postgres CPU µs': micros('postgres'),
    'all CPU µs': values.kill ? '' : micros('all'),
    'first email ms': Math.round(firstAt - startedAt),
    'peak MB of a worker': Math.max(...workers.map(readPeakMegabytes)),
    ...(values.kill && (await countLostAndDoubled(sink, recipients))),
  });
  return { perSecond, micros: micros('all') };
}

/**
 * Returns three values of the CPU time until now, in ms: for the workers, for Postgres, and for all processes including
 * the receiving server.
 */
function readCpu(running: StartedService, sink: SinkProcess) {
  const { workers, postgres, api, temporal } = running.dev().pids;
  const parts = { workers: readCpuMs(workers), postgres: readPostgresCpuMs(postgres) };
  return { ...parts, all: parts.workers + parts.postgres + readCpuMs([api, temporal ?? 0, sink.pid]) };
}

/**
 * Compares the result with the highest rate that the processor allows: the number of cores divided by the CPU time of a
 * plain email, of an RSA-2048 signature and of TLS. All three are measured in this run.
 */
async function compareWithParts(full: Cost): Promise<void> {
  const cores = availableParallelism();
  const signature = values.dkim ? await measureSignatureMicros(cores) : 0;
  const tls = Math.max(0, (secured ?? (values.tls ? full : plain)).micros - plain.micros);
  const parts = plain.micros + signature + tls;
  const limit = (cores * 1_000_000) / parts;
  console.log(
    `CPU of an email: plain ${plain.micros} µs, signature ${signature} µs, TLS ${tls} µs: ${parts} µs together.`,
  );
  console.log(
    `All processes used ${full.micros} µs: ${roundToHundredths(full.micros / parts)} times the sum of the parts.`,
  );
  console.log(
    `${full.perSecond} emails per second: ${roundToHundredths(full.perSecond / limit)} times the limit of ${Math.round(limit)}.`,
  );
}

/** Returns the CPU time of one RSA-2048 signature. `openssl speed` measures it on all cores at the same time. */
async function measureSignatureMicros(cores: number): Promise<number> {
  const args = ['speed', '-seconds', '3', '-multi', String(cores), 'rsa2048'];
  const { stdout } = await promisify(execFile)('openssl', args);
  const secondsOfAllCores = Number(/^rsa\s+2048 bits\s+([\d.]+)s/m.exec(stdout)?.[1]);
  return Math.round(secondsOfAllCores * cores * 1_000_000);
}

/** Ends the first worker with SIGKILL when 40 % of the emails have arrived. */
async function killWorker(running: StartedService, sink: SinkProcess, recipients: number): Promise<void> {
  await waitForSink(sink, recipients * 0.4, performance.now());
  const pid = running.dev().pids.workers[0];
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}

async function countLostAndDoubled(sink: SinkProcess, recipients: number) {
  const got = Object.values(await sink.recipients());
  return { lost: recipients - got.length, doubled: got.filter((times) => times > 1).length };
}

function toRateRow({ messages, seconds, cpuMicros }: { messages: number; seconds: number; cpuMicros: number }) {
  return {
    messages,
    seconds: roundToHundredths(seconds),
    'msg/s': Math.round(messages / seconds),
    'worker CPU µs': Math.round(cpuMicros / messages),
  };
}

function roundToHundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
