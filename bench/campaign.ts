import { parseArgs } from 'node:util';
import pg from 'pg';
import { type SinkProcess, startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { newHome, removeHome, type StartedService, startService } from '../test/support/start.ts';
import { measureNodemailerAndLiquid, measureRawSender } from './campaign-baselines.ts';
import { BODY, SUBJECT } from './campaign-content.ts';
import { call, insertContacts, peakMegabytes, procFile, untilSent, untilSink } from './campaign-stage.ts';

/**
 * A campaign from `POST /campaigns/{id}/send` to SENT, with everything that a user of `npm start` has: API, Temporal,
 * worker processes, the ledger in Postgres, and an SMTP sink in another process. The baselines run before it on the
 * same machine. `--kill` ends a worker with kill -9 in the middle and counts missing and doubled emails.
 */
const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '100000' },
    // Used instead of `recipients`: one campaign for each number of recipients, smallest first, such as
    // 10000,100000,1000000.
    sizes: { type: 'string', default: '' },
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '2' },
    dkim: { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
    baselines: { type: 'boolean', default: true },
    // Node options of every process of the service, such as --cpu-prof --cpu-prof-dir=/tmp/profiles.
    'node-options': { type: 'string', default: '' },
  },
  allowNegative: true,
});
let recipients = Number(values.recipients);
const sizes = values.sizes === '' ? [] : values.sizes.split(',').map(Number);

const table: Record<string, string | number>[] = [];
const home = newHome();
const sink = await startSinkProcess(values.kill ? [] : ['--no-record']);
let service: StartedService | undefined;
try {
  if (values.baselines) {
    table.push({ what: 'nodemailer pool + Liquid a message', ...rate(await measureNodemailerAndLiquid(sink, 10_000)) });
    table.push({ what: 'our sender alone, no ledger', ...rate(await measureRawSender(sink, 60_000)) });
  }
  service = await startService({
    home,
    env: {
      WORKERS: values.workers,
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: sink.url,
      DKIM_SIGN: values.dkim ? 'on' : 'off',
      RATE_LIMIT_PER_MINUTE: '0',
      ...(values['node-options'] && { NODE_OPTIONS: values['node-options'] }),
    },
  });
  const database = new pg.Client(service.dev().databaseUrl);
  await database.connect();
  let contacts = 0;
  for (const size of sizes.length > 0 ? sizes : [recipients]) {
    recipients = size;
    await insertContacts(database, { projectId: service.dev().projectId, from: contacts + 1, to: size });
    contacts = size;
    const rounds = sizes.length > 0 ? 1 : Number(values.rounds);
    for (let round = 1; round <= rounds; round++) await campaign(service, database, sink, round);
  }
  await database.end();
  console.table(table);
  console.log(`Peak memory of the workers: ${service.dev().pids.workers.map(peakMegabytes).join(', ')} MB`);
} finally {
  service?.signal('SIGTERM');
  await service?.exited;
  await sink.stop();
  await removeHome(home);
}

async function campaign(running: StartedService, database: pg.Client, into: SinkProcess, round: number): Promise<void> {
  await into.reset();
  const { workers, postgres } = running.dev().pids;
  const cpuBefore = { workers: cpuMs(workers), postgres: postgresCpuMs(postgres) };
  const id = (
    await call(running, '/campaigns', {
      name: 'Bench',
      subject: SUBJECT,
      body: BODY,
      from: `news@${running.dev().domain}`,
      audienceType: 'ALL',
    })
  ).data.id;
  const startedAt = performance.now();
  await call(running, `/campaigns/${id}/send`, {});
  const killed = values.kill ? killOne(running, into) : undefined;
  const firstAt = await untilSink(into, 1, startedAt);
  const lastAt = values.kill ? 0 : await untilSink(into, recipients, startedAt);
  const doneAt = await untilSent(database, id);
  await killed;
  const seconds = (doneAt - startedAt) / 1000;
  table.push({
    'first mail ms': Math.round(firstAt - startedAt),
    'peak MB of a worker': Math.max(...workers.map(peakMegabytes)),
    what: `campaign, round ${round}${values.kill ? ', a worker killed' : ''}`,
    messages: recipients,
    seconds: fixed(seconds),
    'msg/s': Math.round(recipients / seconds),
    'msg/s while sending': values.kill ? '' : Math.round((recipients * 1000) / (lastAt - firstAt)),
    'worker CPU µs': values.kill ? '' : Math.round(((cpuMs(workers) - cpuBefore.workers) * 1000) / recipients),
    'Postgres CPU µs': Math.round(((postgresCpuMs(postgres) - cpuBefore.postgres) * 1000) / recipients),
    ...(values.kill && (await countLostAndDoubled(into))),
  });
}

async function killOne(running: StartedService, into: SinkProcess): Promise<void> {
  await untilSink(into, recipients * 0.4, performance.now());
  const pid = running.dev().pids.workers[0];
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
}

async function countLostAndDoubled(into: SinkProcess) {
  const got = Object.values(await into.recipients());
  return { lost: recipients - got.length, doubled: got.filter((times) => times > 1).length };
}

function rate({ messages, seconds, cpuMicros }: { messages: number; seconds: number; cpuMicros: number }) {
  return {
    messages,
    seconds: fixed(seconds),
    'msg/s': Math.round(messages / seconds),
    'worker CPU µs': Math.round(cpuMicros / messages),
  };
}

function fixed(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

/** Returns user and system time of processes, from /proc; 0 without it. */
function cpuMs(pids: number[]): number {
  const TICK_MS = 10;
  return pids.reduce((sum, pid) => {
    const fields = procFile(pid, 'stat')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
  }, 0);
}

/** Returns the CPU time of Postgres with all its backends. */
function postgresCpuMs(postmaster: number | null): number {
  if (postmaster === null) return 0;
  const children = procFile(postmaster, `task/${postmaster}/children`).trim().split(' ').filter(Boolean).map(Number);
  return cpuMs([postmaster, ...children]);
}
