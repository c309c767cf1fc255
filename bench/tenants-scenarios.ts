import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { getMonotonicMs } from '../test/support/smtp/sink-process.ts';
import { BODY, SUBJECT } from './campaign-content.ts';
import { runConcurrently } from './load/api-client.ts';
import { createWorkflow, insertContacts } from './load/projects.ts';
import { startTenantLoad, type TenantReport } from './tenants-load.ts';
import type { TenantStage } from './tenants-stage.ts';

export interface Sizes {
  recipients: number;
  executions: number;
  /** B's emails per second, and B's executions per second. */
  perSecond: number;
  idleSeconds: number;
  /** The number of executions that are started per second before a wave. */
  startRate: number;
  /** The time after which a scenario is stopped if A's work has not ended. */
  maxSeconds: number;
}

/**
 * The measurements of a scenario. `total` is the number of A's emails or executions, and `done` is how many of them
 * have ended.
 */
export interface ScenarioOutcome {
  otherTenant?: TenantReport;
  done: number;
  total: number;
  seconds: number;
  /**
   * The executions per second of A and B together while A's executions ran; in `wave-bare`, A's bare workflows per
   * second. Undefined if A runs no executions.
   */
  executionsPerSecond?: number;
}

export type ScenarioName = 'idle' | 'campaign' | 'alone' | 'backlog' | 'wave-bare' | 'wave-until' | 'wave-delay';

/**
 * The limits for the 99th percentile of B's latencies in ms. Three scenarios have no limit, because they are only
 * compared with others. In `idle`, A does nothing. In `alone`, B sends nothing. The third scenario is `wave-bare`.
 */
export const LIMITS: Record<ScenarioName, { emails: number; executions: number } | undefined> = {
  idle: undefined,
  campaign: { emails: 500, executions: 1_000 },
  alone: undefined,
  backlog: { emails: 500, executions: 1_500 },
  'wave-bare': undefined,
  'wave-until': { emails: 500, executions: 1_500 },
  'wave-delay': { emails: 500, executions: 1_500 },
};

/** Concurrent requests of A, which sends as fast as the API accepts. */
const CONCURRENCY = 32;
/** After A's work has ended, the bench waits this long for B's last emails. */
const DRAIN_MS = 60_000;
/** The DELAY of each execution in `wave-delay`. */
const DELAY_SECONDS = 5;
/** The time from the expected start of the last execution of `wave-until` to the instant for which all of them wait. */
const UNTIL_MARGIN_MS = 10_000;
/** B starts this long before the timers of A's wave end. */
const LEAD_MS = 3_000;

export const SCENARIOS: Record<ScenarioName, (stage: TenantStage, sizes: Sizes) => Promise<ScenarioOutcome>> = {
  idle: async (stage, sizes) => {
    const b = startLoadOfB(stage, sizes, 'idle');
    await sleep(sizes.idleSeconds * 1_000);
    return { otherTenant: await b.stop(DRAIN_MS), done: 0, total: 0, seconds: sizes.idleSeconds };
  },
  campaign: runCampaign,
  alone: (stage, sizes) => runExecutions(stage, sizes, 'alone', []),
  backlog: (stage, sizes) => runExecutions(stage, sizes, 'backlog', []),
  'wave-bare': runBareWave,
  'wave-until': runUntilWave,
  'wave-delay': (stage, sizes) =>
    runExecutions(stage, sizes, 'wave-delay', [['DELAY', { amount: DELAY_SECONDS, unit: 'seconds' }]]),
};

function startLoadOfB({ b, sink }: TenantStage, { perSecond }: Sizes, name: string) {
  const tag = `t-b-${name}-`;
  return startTenantLoad({ client: b.client, sink, domain: b.domain, eventName: b.eventName, tag, perSecond });
}

async function runCampaign(stage: TenantStage, sizes: Sizes): Promise<ScenarioOutcome> {
  const { a, db } = stage;
  const total = sizes.recipients;
  await insertContacts(db, { projectId: a.id, count: total, localPart: 'r' });
  const { data } = await a.client.callOk('POST', '/campaigns', {
    name: 'Other tenant',
    subject: SUBJECT,
    body: BODY,
    from: `news@${a.domain}`,
    audienceType: 'FILTERED',
    audienceFilter: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
  });
  const b = startLoadOfB(stage, sizes, 'campaign');
  const startedAt = getMonotonicMs();
  await a.client.callOk('POST', `/campaigns/${data.id}/send`, {});
  const isSent = async () => {
    const { rows } = await sql<{ status: string }>`SELECT status FROM campaigns WHERE id = ${data.id}`.execute(db);
    return rows[0]?.status === 'SENT';
  };
  const sent = await waitUntil(isSent, startedAt + sizes.maxSeconds * 1_000);
  const seconds = (getMonotonicMs() - startedAt) / 1_000;
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM emails WHERE campaign_id = ${data.id} AND status = 'SENT'`.execute(db);
  if (!sent) await a.client.call('POST', `/campaigns/${data.id}/cancel`, {});
  return { otherTenant: await b.stop(DRAIN_MS), done: rows[0]?.n ?? 0, total, seconds };
}

/**
 * Lets A track events as fast as the API accepts them. Each event starts an execution with the steps `before`, a
 * SEND_EMAIL and an EXIT.
 */
async function runExecutions(
  stage: TenantStage,
  sizes: Sizes,
  name: ScenarioName,
  before: [string, object][],
): Promise<ScenarioOutcome> {
  const { prefix, track } = await prepareWave(stage, sizes, name, before);
  const b = name === 'alone' ? undefined : startLoadOfB(stage, sizes, name);
  const startedAt = getMonotonicMs();
  await track(startedAt + sizes.maxSeconds * 1_000);
  return waitForOutcome(stage, sizes, { prefix, name, startedAt, b });
}

/** Lets all of A's executions wait for the same instant. Starts B `LEAD_MS` before this instant. */
async function runUntilWave(stage: TenantStage, sizes: Sizes): Promise<ScenarioOutcome> {
  const waitMs = (sizes.executions * 1_000) / sizes.startRate + UNTIL_MARGIN_MS;
  const at = getMonotonicMs() + waitMs;
  const instant = new Date(Date.now() + waitMs).toISOString();
  const { prefix, track, workflowId } = await prepareWave(stage, sizes, 'wave-until', [['DELAY', { until: instant }]]);
  await track(at - LEAD_MS);
  const waiting = async () => {
    const { rows } = await sql<{ n: number }>`
      SELECT count(*)::int AS n FROM executions WHERE workflow_id = ${workflowId} AND status = 'WAITING'`.execute(
      stage.db,
    );
    return rows[0]?.n ?? 0;
  };
  await waitUntil(async () => (await waiting()) === sizes.executions, at - LEAD_MS);
  await sleep(Math.max(0, at - LEAD_MS - getMonotonicMs()));
  const b = startLoadOfB(stage, sizes, 'wave-until');
  const met = await waiting();
  if (met < sizes.executions) console.log(`  only ${met} of ${sizes.executions} waited when B started`);
  await sleep(Math.max(0, at - getMonotonicMs()));
  return waitForOutcome(stage, sizes, { prefix, name: 'wave-until', startedAt: at, b });
}

/**
 * Runs the same wave with bare Temporal workflows: only a timer and an empty activity, with the SDK's default settings,
 * on the same server. The result is the baseline of the other waves.
 */
async function runBareWave(stage: TenantStage, sizes: Sizes): Promise<ScenarioOutcome> {
  const { address, namespace } = stage.temporal;
  const file = `./bare-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`;
  const worker = fork(new URL(file, import.meta.url), [address, namespace]);
  const connection = await Connection.connect({ address });
  try {
    await once(worker, 'message');
    let done = 0;
    let lastMs = 0;
    worker.on('message', () => {
      done += 1;
      lastMs = getMonotonicMs();
    });
    const { workflow } = new Client({ connection, namespace });
    const total = sizes.executions;
    const waitMs = (total * 1_000) / sizes.startRate + UNTIL_MARGIN_MS;
    const at = getMonotonicMs() + waitMs;
    const atMs = Date.now() + waitMs;
    await runConcurrently({ total, concurrency: CONCURRENCY }, (n) =>
      workflow.start('bareTimerUntil', { taskQueue: 'bench-bare', workflowId: `bare-wave-${atMs}-${n}`, args: [atMs] }),
    );
    await sleep(Math.max(0, at - LEAD_MS - getMonotonicMs()));
    const b = startLoadOfB(stage, sizes, 'wave-bare');
    await waitUntil(async () => done === total, at + sizes.maxSeconds * 1_000);
    const seconds = ((done === total ? lastMs : getMonotonicMs()) - at) / 1_000;
    return { otherTenant: await b.stop(DRAIN_MS), done, total, seconds, executionsPerSecond: done / seconds };
  } finally {
    worker.kill('SIGTERM');
    await connection.close();
  }
}

async function prepareWave({ a }: TenantStage, sizes: Sizes, name: ScenarioName, before: [string, object][]) {
  const prefix = `t-a-${name}-`;
  const steps: [string, object][] = [...before, ['SEND_EMAIL', { templateId: a.templateId }], ['EXIT', {}]];
  const workflowId = await createWorkflow(a.client, `a-${name}`, steps);
  const track = (deadline: number) => {
    const signal = AbortSignal.timeout(Math.max(1, Math.round(deadline - getMonotonicMs())));
    return runConcurrently({ total: sizes.executions, concurrency: CONCURRENCY, signal }, (n) =>
      a.client.callOk('POST', '/v1/track', {
        email: `${prefix}${n}@load.test`,
        event: `a-${name}`,
        data: { name: 'A' },
      }),
    );
  };
  return { prefix, workflowId, track };
}

/** Waits until the emails of A's executions have arrived, then stops B and waits for its emails. */
async function waitForOutcome(
  { sink }: TenantStage,
  sizes: Sizes,
  p: { prefix: string; name: string; startedAt: number; b: ReturnType<typeof startLoadOfB> | undefined },
): Promise<ScenarioOutcome> {
  const total = sizes.executions;
  const all = async () => (await sink.arrived(p.prefix)).count >= total;
  await waitUntil(all, p.startedAt + sizes.maxSeconds * 1_000);
  const { count: done, lastMs } = await sink.arrived(p.prefix);
  const seconds = ((done === total && lastMs !== null ? lastMs : getMonotonicMs()) - p.startedAt) / 1_000;
  const ofB = done === 0 ? 0 : (await sink.arrived(`t-b-${p.name}-x`)).count;
  const report = await p.b?.stop(DRAIN_MS);
  return { ...(report && { otherTenant: report }), done, total, seconds, executionsPerSecond: (done + ofB) / seconds };
}

/** Waits until a condition is true. Returns false if it is still false at `deadline` (a time of `getMonotonicMs`). */
export async function waitUntil(condition: () => Promise<boolean>, deadline: number): Promise<boolean> {
  while (!(await condition())) {
    if (getMonotonicMs() >= deadline) return false;
    await sleep(250);
  }
  return true;
}
