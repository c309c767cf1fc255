import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { getProgramEnv } from '../support/program-env.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';

const DIST = join(import.meta.dirname, '..', '..', 'dist', 'cli');
const SECRET_KEY = 'a-secret-key-for-the-tests';
/** An address on which no server listens. */
const NOWHERE = '127.0.0.1:1';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Started {
  child: ChildProcess;
  output: () => string;
  /** Resolves to the exit code when the process has ended. */
  ended: Promise<number | null>;
}

/** Runs dist/cli/<command>.js as `npm run <command>` does on a separate host, configured by its environment alone. */
function startProcess(command: string, env: Record<string, string>): Started {
  const child = spawn(process.execPath, [join(DIST, `${command}.js`)], {
    env: { ...getProgramEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { child, output: () => text, ended: once(child, 'close').then(([code]) => code) };
}

describe('a problem that prevents the start of a process is reported in one line, with exit code 1', () => {
  it.each([
    ['api', {}, /^DATABASE_URL is required/],
    ['api', { DATABASE_URL: 'postgres://x@127.0.0.1/x', TEMPORAL_ADDRESS: NOWHERE }, /^SECRET_KEY is required/],
    [
      'worker',
      { WORKER_QUEUES: 'bulk,campaigns' },
      /^WORKER_QUEUES must be a comma-separated list of workflows, steps/,
    ],
    ['worker', { WORKER_DEPLOYMENT: 'a.b' }, /^WORKER_DEPLOYMENT must be a name of letters, digits, dashes/],
    ['worker', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be trace, debug, /],
    ['api', { TRUSTED_PROXIES: '10.0.0.0/8,proxy' }, /^TRUSTED_PROXIES must be a comma-separated list of IP addresses/],
    ['api', { TRUSTED_PROXIES: '0.0.0.0/0' }, /^TRUSTED_PROXIES must be .* \(never \/0\), not "0\.0\.0\.0\/0"\.$/m],
    ['migrate', {}, /^DATABASE_URL is required/],
    ['migrate', { DATABASE_URL: `postgres://x:hunter2@${NOWHERE}/x` }, /^Postgres at 127\.0\.0\.1:1 cannot be used/],
  ])('for %s with %j', async (command, env, line) => {
    const { output, ended } = startProcess(command, env as Record<string, string>);
    expect(await ended).toBe(1);
    expect(output()).toMatch(line);
    expect(output().trim().split('\n')).toHaveLength(1);
    expect(output()).not.toContain('hunter2');
  });

  it('for an API or a worker without Postgres, after some seconds', async () => {
    const env = { TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY, PORT: '0', DATABASE_URL: `postgres://x:hunter2@${NOWHERE}/x` };
    const processes = ['api', 'worker'].map((command) => startProcess(command, env));
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([1, 1]);
    for (const { output } of processes) {
      expect(output()).toMatch(
        /^Postgres at 127\.0\.0\.1:1 cannot be reached \(connect ECONNREFUSED .*\): check DATABASE_URL.*\n$/,
      );
      expect(output()).not.toContain('hunter2');
    }
  });

  it('for a database with pending migrations', async () => {
    const server = { DATABASE_URL: inject('postgresUrl'), TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY, PORT: '0' };
    const { output, ended } = startProcess('api', server);
    expect(await ended).toBe(1);
    expect(output()).toMatch(/has pending migrations: run "npm run migrate"/);
  });
});

describe('processes on separate hosts', () => {
  it('a process that is stopped while it starts ends with exit code 0', async () => {
    const silent = createServer().listen(0, '127.0.0.1'); // This server accepts connections and never responds.
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const reached = once(silent, 'connection');
    const env = { DATABASE_URL: `postgres://x@127.0.0.1:${port}/x`, TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY };
    const { child, ended } = startProcess('worker', env);
    await reached;
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    silent.close();
  });

  it('migrate reports that a database is up to date', async () => {
    const { output, ended } = startProcess('migrate', { DATABASE_URL: database.url });
    expect(await ended).toBe(0);
    expect(output()).toBe('The database is up to date.\n');
  });

  it('the API starts and responds while Temporal is down, reports that it is not ready, and ends at SIGTERM', async () => {
    const port = await findFreePort();
    const env = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY, PORT: String(port) };
    const { child, ended } = startProcess('api', env);
    const readStatus = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.status;
    await until(async () => (await readStatus('/health')) === 200);
    expect(await readStatus('/health/live')).toBe(200);
    expect(await readStatus('/health/ready')).toBe(503);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('the API prints one table of its public addresses and who can use each', async () => {
    const [port, metricsPort] = [await findFreePort(), await findFreePort()];
    const env = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY, PORT: String(port) };
    const open = { HOST: '0.0.0.0', ALLOW_CAPTURE: 'true', METRICS_PORT: String(metricsPort) };
    const { child, ended, output } = startProcess('api', { ...env, ...open });
    await until(() => output().includes('Open ports') || child.exitCode !== null);
    await until(() => output().includes('/metrics'));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const lines = output()
      .split('\n')
      .filter((line) => line.startsWith('  '));
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^  API +http://0\\.0\\.0\\.0:${port} +any machine, by key or session`)),
      expect.stringMatching(/^ {2}\/mailbox +http:\/\/0\.0\.0\.0:\d+\/mailbox +an OWNER's session/),
      expect.stringMatching(new RegExp(`^  metrics +http://127\\.0\\.0\\.1:${metricsPort}/metrics +this machine`)),
    ]);
  });

  it('a worker that starts while Temporal is down reports that, sends single emails, and ends at SIGTERM', async () => {
    const { id: projectId } = await buildProject(database.db, 'Mail');
    await buildDomain(database.db, { projectId });
    const email = await buildEmail(database.db, { projectId });
    await inTransaction(database.db, (trx) => enqueue(trx, [{ projectId, kind: 'email.deliver', refId: email }]));
    const env = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY: TEST_SECRET_KEY };
    const { child, ended, output } = startProcess('worker', env);
    const row = database.db.selectFrom('emails').select('status').where('id', '=', email);
    await until(async () => (await row.executeTakeFirst())?.status === 'SENT' || child.exitCode !== null);
    await until(() => output().includes('Temporal cannot be reached') || child.exitCode !== null);
    expect(output()).toContain('check TEMPORAL_ADDRESS');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('a worker counts the processor time of its threads by kind of work', async () => {
    const { id: projectId } = await buildProject(database.db, 'Costly');
    await buildDomain(database.db, { projectId });
    const email = await buildEmail(database.db, { projectId, body: '{% for n in (1..3) %}<p>{{n}}</p>{% endfor %}' });
    await inTransaction(database.db, (trx) => enqueue(trx, [{ projectId, kind: 'email.deliver', refId: email }]));
    const port = await findFreePort();
    const env = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: NOWHERE, SECRET_KEY: TEST_SECRET_KEY };
    const { child, ended, output } = startProcess('worker', { ...env, METRICS_PORT: String(port) });
    const row = database.db.selectFrom('emails').select('status').where('id', '=', email);
    // On a busy machine the email may exceed its time limit and fail. The computation is counted also then.
    const isSettled = async () => ['SENT', 'FAILED'].includes((await row.executeTakeFirst())?.status ?? '');
    await until(async () => (await isSettled()) || child.exitCode !== null, 'the email');
    await until(
      () => output().includes('Temporal cannot be reached') || child.exitCode !== null,
      'the word on Temporal',
    );
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const [, computed] = /^tidings_computed_microseconds\{kind="[\w.]+"[^}]*\} (\d+)$/m.exec(metrics) ?? [];
    expect(Number(computed), metrics.slice(0, 2_000)).toBeGreaterThan(0);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  it('a worker ends with exit code 0 at SIGTERM', async () => {
    const temporal = await createTestTemporal();
    const { child, ended, output } = startProcess('worker', {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SECRET_KEY,
    });
    await until(() => output().includes('takes tasks') || child.exitCode !== null);
    child.kill('SIGTERM');
    expect([await ended, output()]).toEqual([0, expect.stringContaining('takes tasks')]);
  });
});
