import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { readCpuMs, readPostgresCpuMs } from '../test/support/process-cpu.ts';
import { startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, startService } from '../test/support/start.ts';
import { roundToTenths } from './load/round.ts';

/**
 * Measures executions per second, and compares them with bare Temporal workflows on the same server, in alternating
 * rounds. Compares trigger → SEND_EMAIL → EXIT with a workflow of one empty activity, and SEND → DELAY 1 s → SEND with
 * a workflow of an activity, a timer and an activity. The bare workflows use the SDK's default settings. Emails are
 * sent to an SMTP sink. `--temporal HOST:PORT` uses a running Temporal, for example on Postgres, instead of the dev
 * server.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '600' },
    rounds: { type: 'string', default: '3' },
    'no-timer': { type: 'boolean', default: false },
    temporal: { type: 'string', default: '' },
  },
});
const count = Number(values.count);
const rounds = Number(values.rounds);
/**
 * Executions before the measurement. After them, code is compiled and tables have statistics, as in a service that has
 * run for days.
 */
const WARM_UP = 1_000;
/** The number of workflows, or of executions, that are started at the same time. */
const CONCURRENCY = 32;
/** Counting completed executions costs server time, so the benchmark counts rarely. */
const POLL_MS = 1_000;
let contacts = 0;

const sink = await startSinkProcess(['--no-record']);
const home = createHomePath();
const service = await startService({
  home,
  env: {
    PORT: '0',
    WORKERS: '1',
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    RATE_LIMIT_PER_MINUTE: '0',
    DKIM_SIGN: 'off',
    LOG_LEVEL: 'warn',
    ...(values.temporal && { TEMPORAL_ADDRESS: values.temporal }),
  },
});
const dev = service.dev();
const connection = await Connection.connect({ address: dev.temporal.address });
const client = new Client({ connection, namespace: dev.temporal.namespace });
const bareWorker = fork(new URL(`./bare-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url), [
  dev.temporal.address,
  dev.temporal.namespace,
]);
await once(bareWorker, 'message');

try {
  const templateId = await createTemplate();
  const one = await createWorkflow('bench-one', [
    ['SEND_EMAIL', { templateId }],
    ['EXIT', {}],
  ]);
  const timer = await createWorkflow('bench-timer', [
    ['SEND_EMAIL', { templateId }],
    ['DELAY', { amount: 1, unit: 'seconds' }],
    ['SEND_EMAIL', { templateId }],
  ]);
  await compare('trigger → SEND_EMAIL → EXIT', 'singleActivity', one);
  if (!values['no-timer']) await compare('SEND → DELAY 1 s → SEND', 'bareTimer', timer);
} finally {
  bareWorker.kill('SIGTERM');
  await connection.close();
  service.signal('SIGTERM');
  await service.exited;
  await sink.stop();
  await removeHome(home);
}

async function compare(what: string, bareType: string, eventName: string): Promise<void> {
  await measureBareRate(bareType, WARM_UP);
  await measureExecutionsRate(eventName, WARM_UP);
  const bare: number[] = [];
  const ours: number[] = [];
  const cost = { bare: createZeroCpu(), ours: createZeroCpu() };
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await addCpu(cost.bare, () => measureBareRate(bareType, count)));
    ours.push(await addCpu(cost.ours, () => measureExecutionsRate(eventName, count)));
  }
  const ratios = ours.map((rate, i) => rate / (bare[i] ?? 1)).sort((a, b) => a - b);
  console.log(
    `\n${what}: ${count} a round, one worker process, Temporal (${values.temporal || 'dev server'}), Postgres and sink on the same cores`,
  );
  console.table([
    {
      what: 'bare Temporal',
      'median a second': roundToTenths(computeMedian(bare)),
      rounds: bare.map(roundToTenths).join(' '),
    },
    {
      what: 'executions',
      'median a second': roundToTenths(computeMedian(ours)),
      rounds: ours.map(roundToTenths).join(' '),
    },
    {
      what: 'ratio',
      'median a second': roundToHundredths(computeMedian(ratios)),
      rounds: ratios.map(roundToHundredths).join(' '),
    },
  ]);
  console.log('CPU of each, in ms a workflow:');
  console.table({ 'bare Temporal': computeCpuPerWorkflow(cost.bare), executions: computeCpuPerWorkflow(cost.ours) });
}

/** The CPU time of the measured processes, in ms. */
type Cpu = Record<'temporal' | 'worker' | 'bareWorker' | 'api' | 'postgres', number>;

function createZeroCpu(): Cpu {
  return { temporal: 0, worker: 0, bareWorker: 0, api: 0, postgres: 0 };
}

function readCpu(): Cpu {
  const { pids } = dev;
  return {
    temporal: readCpuMs([pids.temporal ?? 0]),
    worker: readCpuMs(pids.workers),
    bareWorker: readCpuMs([bareWorker.pid ?? 0]),
    api: readCpuMs([pids.api]),
    postgres: readPostgresCpuMs(pids.postgres),
  };
}

/** Runs `work` and adds its CPU time to `sum`. */
async function addCpu<T>(sum: Cpu, work: () => Promise<T>): Promise<T> {
  const before = readCpu();
  const result = await work();
  const after = readCpu();
  for (const key of Object.keys(sum) as (keyof Cpu)[]) sum[key] += after[key] - before[key];
  return result;
}

function computeCpuPerWorkflow(sum: Cpu): Record<string, number> {
  const each = Object.entries(sum).map(([name, ms]) => [name, roundToTenths(ms / (count * rounds))] as const);
  return { ...Object.fromEntries(each), total: roundToTenths(each.reduce((total, [, ms]) => total + ms, 0)) };
}

async function measureBareRate(type: string, total: number): Promise<number> {
  const startedAt = Date.now();
  await runConcurrently(total, (n) =>
    client.workflow.start(type, { taskQueue: 'bench-bare', workflowId: `bare-${type}-${startedAt}-${n}` }),
  );
  return measureRate(type, total, startedAt);
}

async function measureExecutionsRate(eventName: string, total: number): Promise<number> {
  const startedAt = Date.now();
  await runConcurrently(total, () => {
    contacts += 1;
    return post('/v1/track', { email: `bench${contacts}@example.com`, event: eventName, data: { name: 'Ada' } });
  });
  return measureRate('contactExecution', total, startedAt);
}

/**
 * Returns the workflows per second, from the first request to the instant at which Temporal closed the last workflow.
 */
async function measureRate(type: string, total: number, startedAt: number): Promise<number> {
  const since = new Date(startedAt).toISOString();
  const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Completed' AND CloseTime >= '${since}'`;
  while ((await client.workflow.count(query)).count < total) await sleep(POLL_MS);
  let last = 0;
  let seen = 0;
  // Temporal lists the workflow that closed last first, but the order of workflows that closed at the same instant is
  // not defined.
  for await (const { closeTime } of client.workflow.list({ query, pageSize: 100 })) {
    last = Math.max(last, closeTime?.getTime() ?? 0);
    seen += 1;
    if (seen === 100) break;
  }
  return (total * 1_000) / (last - startedAt);
}

async function runConcurrently(total: number, start: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (let n = next++; n < total; n = next++) await start(n);
    }),
  );
}

async function createTemplate(): Promise<string> {
  const { id } = await post('/templates', {
    name: 'Bench',
    subject: 'Hello {{name}}',
    body: '<p>Hello {{name}}, this is an email.</p>',
    type: 'TRANSACTIONAL',
    from: `hello@${dev.domain}`,
  });
  return id as string;
}

async function createWorkflow(eventName: string, steps: [string, object][]): Promise<string> {
  const { id } = await post('/workflows', { name: eventName, eventName });
  for (const [type, config] of steps) await post(`/workflows/${id}/steps`, { type, config, autoConnect: true });
  await send('PATCH', `/workflows/${id}`, { enabled: true });
  return eventName;
}

function post(path: string, body: object): Promise<Record<string, unknown>> {
  return send('POST', path, body);
}

async function send(method: string, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(dev.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${dev.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

function computeMedian(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function roundToHundredths(n: number): number {
  return Math.round(n * 100) / 100;
}
