import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../cli/start/embedded-postgres.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from '../../cli/start/temporal-server.ts';
import { startHostProcess } from '../support/host-process.ts';
import { callService, startSmtpService } from '../support/smtp/smtp-service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import {
  createHomePath,
  listPids,
  removeHome,
  type StartedService,
  startAndWaitForExit,
  waitForCondition,
} from '../support/start.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const HOUR_MS = 3_600_000;
const BEHIND = /older than what Temporal has recorded.*INSTALLATION=take-over.*INSTALLATION=new/;

type Store = 'postgres' | 'temporal';

let home: string;
let sink: SmtpSink;
let receiver: WebhookReceiver;
let service: StartedService;

beforeAll(async () => {
  home = createHomePath();
  [sink, receiver] = await Promise.all([startSmtpSink(), startWebhookReceiver()]);
});
afterAll(async () => {
  await sink?.close();
  await receiver?.close();
  await removeHome(home);
});

const ENV = { WORKERS: '1', WEBHOOK_ALLOW_PRIVATE: 'true' };
const call = (method: string, path: string, body?: unknown) => callService(service, method, path, body);
const waitUntil = (condition: () => boolean | Promise<boolean>) => waitForCondition(service, condition);
const countReceived = (to: string) => sink.perRecipient().get(to) ?? 0;

async function startService(env: Record<string, string> = {}): Promise<void> {
  service = await startSmtpService(home, sink.url, { ...ENV, ...env });
}

async function stopService(): Promise<void> {
  service.signal('SIGTERM');
  await service.exited;
}

const runUntilExit = (env: Record<string, string> = {}) =>
  startAndWaitForExit({ home, env: { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, ...ENV, ...env } });

/** Copies the files of a store with their owners. */
function copyStore(store: Store, copy: string): void {
  execute('cp', ['-a', join(home, store), join(home, `${store}-${copy}`)]);
}

function restoreStore(store: Store, copy: string): void {
  rmSync(join(home, store), { recursive: true });
  execute('cp', ['-a', join(home, `${store}-${copy}`), join(home, store)]);
}

function execute(command: string, words: string[]): void {
  const { status, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}

async function sendTo(to: string): Promise<void> {
  const from = `hello@${service.dev().domain}`;
  await call('POST', '/v1/send', { from, to, subject: 'S', body: '<p>Hello</p>' });
}

async function sendAndWait(to: string): Promise<void> {
  await sendTo(to);
  await waitUntil(() => countReceived(to) === 1);
}

/**
 * Waits until the worker has done a job, which a hold does not delay. Work that was queued before the job has been sent
 * by then, if nothing stops it.
 */
async function runJob(): Promise<void> {
  const { jobId } = await call('POST', '/contacts/bulk-subscribe', { contactIds: [uuidv7()] });
  await waitUntil(async () => (await call('GET', `/contacts/bulk/${jobId}`)).status === 'COMPLETED');
}

/** Schedules a campaign of the only project to `reader@example.com`, in an hour. */
async function scheduleCampaign(): Promise<string> {
  await call('POST', '/contacts', { email: 'reader@example.com', subscribed: true });
  const text = { name: 'News', subject: 'News', body: '<p>News</p>', from: `hello@${service.dev().domain}` };
  const { data } = await call('POST', '/campaigns', { ...text, audienceType: 'ALL' });
  await call('POST', `/campaigns/${data.id}/send`, { scheduledFor: getTimeInAnHour() });
  return data.id;
}

const getTimeInAnHour = () => new Date(Date.now() + HOUR_MS).toISOString();

/** Builds a workflow that calls the webhook receiver when an event of a contact occurs. */
async function buildWebhookWorkflow(): Promise<void> {
  const { id } = await call('POST', '/workflows', { name: 'Hook', eventName: 'hook' });
  await call('POST', `/workflows/${id}/steps`, {
    type: 'WEBHOOK',
    config: { url: `${receiver.url}/step`, method: 'POST' },
    autoConnect: true,
  });
  await call('PATCH', `/workflows/${id}`, { enabled: true });
}

/** Runs `npm run operator -- …` on the home. */
async function runOperator(...words: string[]): Promise<string> {
  const script = join(packageRoot(), 'dist', 'cli', 'operator.js');
  const child = spawn(process.execPath, [script, ...words], { env: { PATH: process.env.PATH, TIDINGS_HOME: home } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await once(child, 'close');
  return output;
}

describe('npm start, on killed, restored and cloned databases,', () => {
  let campaignId: string;

  it('starts normally after a kill of everything, and reports neither a clone nor a restored database', async () => {
    await startService();
    await sendAndWait('first@example.com');
    for (const pid of listPids(service.dev())) process.kill(pid, 'SIGKILL');
    await service.exited;
    await startService();
    await sendAndWait('killed@example.com');
    expect(service.output()).not.toMatch(/Temporal is older|no record|INSTALLATION|[Rr]ecovery/);
  });

  it('rebuilds the state of a Temporal that was restored from an earlier copy, and logs that', async () => {
    await buildWebhookWorkflow();
    campaignId = await scheduleCampaign();
    await stopService();
    copyStore('postgres', 'early');
    copyStore('temporal', 'early');
    await startService();
    await call('POST', `/campaigns/${campaignId}/send`, { scheduledFor: new Date(Date.now() + 500).toISOString() });
    await waitUntil(async () => (await call('GET', `/campaigns/${campaignId}`)).status === 'SENT');
    await stopService();
    copyStore('postgres', 'late');
    copyStore('temporal', 'late');
    restoreStore('temporal', 'early');
    await startService();
    expect(service.output()).toContain('Temporal is older than this database');
    await waitUntil(() => service.output().includes('recovery has ended'));
    await sendAndWait('temporal-restored@example.com');
    await stopService();
  });

  it('refuses to start with a Postgres that was restored from an earlier copy', async () => {
    restoreStore('temporal', 'late');
    restoreStore('postgres', 'early');
    const { code, output } = await runUntilExit();
    expect(code).toBe(1);
    const lines = output.split('\n').filter((line) => BEHIND.test(line));
    expect(lines).toHaveLength(1);
    expect(output).not.toContain('    at ');
  });

  it('takes a restored Postgres over: prints the lost time span, pauses its campaign, and resumes sending', async () => {
    await startService({ INSTALLATION: 'take-over' });
    expect(service.output()).toMatch(
      /What the service did from \S+Z to \S+Z is lost .* One campaign that may have been sent/,
    );
    await sendAndWait('taken-over@example.com');
    expect(await call('GET', `/campaigns/${campaignId}`)).toMatchObject({
      status: 'PAUSED',
      pausedReason: 'database_restored',
    });
    expect(countReceived('reader@example.com')).toBe(1);
    await stopService();
  });

  it('resolves one mismatch with INSTALLATION, and refuses to start at the next mismatch', async () => {
    await startService({ INSTALLATION: 'take-over' });
    expect(service.output()).not.toMatch(/is lost|[Rr]ecovery/);
    await stopService();
    restoreStore('postgres', 'early');
    const again = await runUntilExit({ INSTALLATION: 'take-over' });
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('start once without it')]);
    expect((await runUntilExit()).output).toMatch(BEHIND);
  });

  it('sends nothing from a clone until its operator resumes sending', async () => {
    await startService({ INSTALLATION: 'new' });
    await call('POST', '/webhooks', { url: `${receiver.url}/registry`, events: ['hook'] });
    await sendTo('clone@example.com');
    await call('POST', '/v1/track', { email: 'hooked@example.com', event: 'hook', subscribed: true });
    const requests = receiver.received.length;
    await runJob();
    await stopService();
    await startService();
    expect(service.output()).toContain('npm run operator -- resume');
    await runJob();
    expect([countReceived('clone@example.com'), receiver.received.length - requests]).toEqual([0, 0]);

    expect(await runOperator('resume')).toContain('Sending resumed');
    await waitUntil(() => countReceived('clone@example.com') === 1);
    await waitUntil(() =>
      ['/step', '/registry'].every((path) => receiver.received.some((request) => request.path === path)),
    );
    await stopService();
  });

  it('sends nothing from a copy of both databases that starts as a new installation', async () => {
    restoreStore('postgres', 'early');
    restoreStore('temporal', 'early');
    await startService({ INSTALLATION: 'new' });
    await sendTo('copy@example.com');
    await runJob();
    expect(countReceived('copy@example.com')).toBe(0);
    await stopService();
  });
});

describe('separate processes on restored and cloned databases', () => {
  let postgres: EmbeddedPostgres;
  let temporal: TemporalServer;

  async function startStores(): Promise<void> {
    postgres = await startEmbeddedPostgres({
      dataFolder: join(home, 'postgres', 'data'),
      logFile: join(home, 'logs', 'postgres-apart.log'),
      port: await findFreePort(),
      password: readFileSync(join(home, 'postgres-password'), 'utf8').trim(),
    });
    temporal = await startTemporalServer({
      binary: await findTemporalBinary({
        cliPath: process.env.TEMPORAL_CLI_PATH,
        binFolder: join(home, 'bin'),
        env: process.env,
        progress: () => {},
        signal: new AbortController().signal,
      }),
      databaseFile: join(home, 'temporal', 'temporal.db'),
      logFile: join(home, 'logs', 'temporal-apart.log'),
      namespace: 'default',
      port: await findFreePort(),
      uiPort: await findFreePort(),
      httpPort: await findFreePort(),
      metricsPort: await findFreePort(),
    });
  }

  async function stopStores(): Promise<void> {
    await temporal.stop();
    await postgres.stop();
  }

  const createEnvironment = () => ({
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    SECRET_KEY: readFileSync(join(home, 'secret-key'), 'utf8').trim(),
  });

  async function runProcess(command: 'api' | 'worker', env: Record<string, string>): Promise<string> {
    const port = String(await findFreePort());
    const upWhen = command === 'api' ? 'the API' : 'takes tasks';
    const host = await startHostProcess(command, { PORT: port, ...env }, async (output) => {
      if (command === 'worker') return output.includes(upWhen);
      const health = await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined);
      return health?.ok ?? false;
    });
    await host.stop();
    return host.output();
  }

  it.each(['api', 'worker'] as const)('refuse to start on a restored Postgres: %s', async (command) => {
    restoreStore('postgres', 'early');
    restoreStore('temporal', 'late');
    await startStores();
    await expect(runProcess(command, createEnvironment())).rejects.toThrow(BEHIND);
    await stopStores();
  });

  it('rebuild the state of a Temporal that was restored', async () => {
    restoreStore('postgres', 'late');
    restoreStore('temporal', 'early');
    await startStores();
    expect(await runProcess('worker', createEnvironment())).toContain('Temporal is older than this database');
    await stopStores();
  });

  it('refuse to start with a dump that was restored into a second database', async () => {
    await startStores();
    const client = new pg.Client(postgres.url);
    await client.connect();
    await client.query('CREATE DATABASE staging TEMPLATE tidings');
    await client.end();
    const staging = Object.assign(new URL(postgres.url), { pathname: '/staging' }).href;
    const env = { ...createEnvironment(), DATABASE_URL: staging };
    await expect(runProcess('worker', env)).rejects.toThrow(
      /copy of the one.*INSTALLATION=take-over.*INSTALLATION=new/,
    );
    const away = { ...env, TEMPORAL_ADDRESS: `127.0.0.1:${await findFreePort()}` };
    await expect(runProcess('worker', away)).rejects.toThrow(/copy of the one/);
    expect(await runProcess('worker', { ...env, INSTALLATION: 'new' })).toContain('an installation of its own');
    await stopStores();
  });
});
