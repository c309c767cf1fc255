import { parseArgs } from 'node:util';
import { getMonotonicMs } from '../test/support/smtp/sink-process.ts';
import { runConcurrently } from './load/api-client.ts';
import { roundToTenths } from './load/round.ts';
import type { Latencies } from './tenants-load.ts';
import {
  LIMITS,
  SCENARIOS,
  type ScenarioName,
  type ScenarioOutcome,
  type Sizes,
  waitUntil,
} from './tenants-scenarios.ts';
import { type Cpu, startTenantServers, type TenantStage } from './tenants-stage.ts';

/**
 * Measures the effect of one tenant on another. Tenant B sends a few single emails and starts a few executions per
 * second. Each is measured from the request to the end of the SMTP command DATA at the sink. Meanwhile tenant A does
 * nothing, sends a campaign, has a backlog of executions, or has a wave of timers that end at the same instant. The
 * scenario `alone` runs A's executions without B, and so shows how much B slows A. `--only` takes names of scenarios,
 * separated by commas. If A's work has not ended after `--max-seconds`, the scenario stops. When a scenario stops or
 * ends, the bench waits up to 60 s for B's last emails. If an email or an execution is unfinished after this wait, the
 * time from its request to the end of the wait is counted.
 */
const NAMES = Object.keys(SCENARIOS) as ScenarioName[];
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: NAMES.join(',') },
    recipients: { type: 'string', default: '100000' },
    executions: { type: 'string', default: '3000' },
    rate: { type: 'string', default: '5' },
    'start-rate': { type: 'string', default: '15' },
    workers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '20' },
    'max-seconds': { type: 'string', default: '400' },
  },
});
const only = values.only.split(',');
const unknown = only.filter((name) => !NAMES.some((known) => known === name));
if (unknown.length > 0) {
  console.error(`--only does not know ${unknown.join(', ')}. It knows ${NAMES.join(', ')}.`);
  process.exit(1);
}
const sizes: Sizes = {
  recipients: Number(values.recipients),
  executions: Number(values.executions),
  perSecond: Number(values.rate),
  startRate: Number(values['start-rate']),
  idleSeconds: Number(values.seconds),
  maxSeconds: Number(values['max-seconds']),
};
/** The number of emails and of executions before the measurement, so that frequently used code is compiled. */
const WARM_UP = 200;
const WARM_UP_MS = 60_000;

const results: { name: ScenarioName; outcome: ScenarioOutcome; cpu: Cpu }[] = [];
let stage = await warmStage();
/** Whether the service still has work from the last scenario. If so, the next scenario needs a new service. */
let stale = false;
try {
  for (const name of NAMES.filter((known) => only.includes(known))) await runScenario(name);
} finally {
  await stage.close();
}
printResults();

async function runScenario(name: ScenarioName): Promise<void> {
  if (stale) {
    await stage.close();
    stage = await warmStage();
  }
  console.log(`${name} …`);
  const before = stage.cpu();
  const outcome = await SCENARIOS[name](stage, sizes);
  const after = stage.cpu();
  const cpu = Object.fromEntries(
    Object.entries(after).map(([part, ms]) => [part, ms - before[part as keyof Cpu]]),
  ) as Cpu;
  results.push({ name, outcome, cpu });
  const missing = (outcome.otherTenant?.emails.missing ?? 0) + (outcome.otherTenant?.executions.missing ?? 0);
  stale = outcome.done !== outcome.total || missing > 0;
  for (const { what, p50, p99, max } of toTableRows(name, outcome))
    console.log(`  B's ${what}: p50 ${p50}, p99 ${p99}, max ${max} ms`);
  if (stale)
    console.log(`  unfinished: A completed ${outcome.done} of ${outcome.total}; ${missing} of B's emails are missing`);
}

/** Starts a service, and lets it send emails and run executions as a warm-up. */
async function warmStage(): Promise<TenantStage> {
  const warm = await startTenantServers({ workers: values.workers });
  const { client, domain, eventName } = warm.b;
  await runConcurrently({ total: WARM_UP, concurrency: 8 }, async (n) => {
    const to = `t-warm-m${n}@load.test`;
    await client.callOk('POST', '/v1/send', { to, from: `hello@${domain}`, subject: 'Warm', body: '<p>Warm</p>' });
    await client.callOk('POST', '/v1/track', { email: `t-warm-x${n}@load.test`, event: eventName });
  });
  const hasArrived = async () => (await warm.sink.arrived('t-warm-')).count >= 2 * WARM_UP;
  if (!(await waitUntil(hasArrived, getMonotonicMs() + WARM_UP_MS))) console.log('the warm-up did not end in time');
  return warm;
}

function printResults(): void {
  const { perSecond, recipients, executions } = sizes;
  console.log(
    `\nB sends ${perSecond} emails and starts ${perSecond} executions per second. A sends a campaign to ${recipients} ` +
      `contacts, or has ${executions} executions. ${values.workers} workers. Times in ms, from the request to the end of DATA`,
  );
  console.table(results.flatMap(({ name, outcome }) => toTableRows(name, outcome)));
  console.log('Completed work of project A, and executions per second of projects A and B during that time');
  console.table(
    results.map(({ name, outcome: { done, total, seconds, executionsPerSecond } }) => ({
      scenario: name,
      done,
      total,
      seconds: roundToTenths(seconds),
      'executions/s': executionsPerSecond === undefined ? '' : roundToTenths(executionsPerSecond),
    })),
  );
  const rates = Object.fromEntries(results.map(({ name, outcome }) => [name, outcome.executionsPerSecond]));
  if (rates.alone && rates.backlog)
    console.log(`With B / without B: ${Math.round((rates.backlog / rates.alone) * 100) / 100} (limit: not below 1)`);
  console.log('CPU seconds of each process');
  console.table(
    results.map(({ name, cpu }) => ({
      scenario: name,
      ...Object.fromEntries(Object.entries(cpu).map(([part, ms]) => [part, roundToTenths(ms / 1_000)])),
    })),
  );
}

function toTableRows(name: ScenarioName, { otherTenant }: ScenarioOutcome) {
  if (!otherTenant) return [];
  const limits = LIMITS[name];
  const row = (what: 'emails' | 'executions', seen: Latencies) => {
    const limit = limits?.[what];
    return {
      scenario: name,
      what,
      ...seen,
      refused: what === 'emails' ? otherTenant.refused : '',
      'p99 limit': limit ?? '',
      '': limit === undefined ? '' : seen.p99 <= limit && seen.missing === 0 ? 'ok' : 'OVER',
    };
  };
  return [row('emails', otherTenant.emails), row('executions', otherTenant.executions)];
}
