import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../cli/start/processes.ts';
import {
  createHomePath,
  listPids,
  readSignInLink,
  removeHome,
  type StartedService,
  startAndWaitForExit,
  startService,
  waitForCondition,
} from '../support/start.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const home = createHomePath();
let service: StartedService;

afterAll(() => removeHome(home));

describe('npm start on an empty home', () => {
  beforeAll(async () => {
    service = await startService({ home });
  });

  it('responds, and prints that it is ready and a command that sends an email', async () => {
    const { baseUrl, secretKey } = service.dev();
    for (const path of ['/health', '/health/live', '/health/ready']) {
      const response = await fetch(baseUrl + path);
      expect([path, response.status, await response.json()]).toMatchObject([path, 200, { status: 'ok' }]);
    }
    const lines = service.output().split('\n');
    const ready = lines.filter((line) => line.startsWith('Tidings is ready'));
    expect(ready).toEqual([`Tidings is ready at ${baseUrl}`]);
    const command = /curl -s [\s\S]*?'\{.*\}'/.exec(service.output())?.[0] ?? '';
    expect(command).toContain(`'Authorization: Bearer ${secretKey}'`);
    expect(JSON.parse((await run('bash', ['-c', command])).stdout)).toMatchObject({ success: true });
  });

  it('prints a link that opens the dashboard once, signed in as the owner', async () => {
    const { baseUrl, owner, projectId } = service.dev();
    const link = await readSignInLink(service);
    expect(link).toMatch(new RegExp(`^${baseUrl}/auth/link/[\\w-]{43}$`));
    const opened = await fetch(link, { redirect: 'manual' });
    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/app']);
    const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const me = await fetch(`${baseUrl}/auth/me`, { headers: { cookie } });
    expect(await me.json()).toMatchObject({ user: { email: owner.email }, projectId, role: 'OWNER' });
    const again = await fetch(link, { redirect: 'manual' });
    expect([again.headers.get('location'), again.headers.getSetCookie()]).toEqual(['/app/sign-in?link=ended', []]);
    const page = await fetch(`${baseUrl}/`);
    expect([page.status, page.url, await page.text()]).toEqual([
      200,
      `${baseUrl}/app`,
      expect.stringContaining('<div id="app">'),
    ]);
  });

  it('writes dev.json, which only its owner can read, with everything that the contract names', () => {
    expect(statSync(join(home, 'dev.json')).mode & 0o777).toBe(0o600);
    expect(service.dev()).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      projectId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      publicKey: expect.stringMatching(/^pk_[0-9a-f]{64}$/),
      secretKey: expect.stringMatching(/^sk_live_[0-9a-f]{64}$/),
      testKey: expect.stringMatching(/^sk_test_[0-9a-f]{64}$/),
      owner: { email: expect.stringContaining('@'), password: expect.any(String) },
      domain: 'tidings.test',
      databaseUrl: expect.stringMatching(/^postgres:\/\//),
      temporal: {
        address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        namespace: 'default',
        ui: expect.stringMatching(/^http:/),
      },
      mailboxUrl: `${service.dev().baseUrl}/mailbox`,
      pids: {
        start: service.pid,
        api: expect.any(Number),
        workers: [expect.any(Number)],
        postgres: expect.any(Number),
        temporal: expect.any(Number),
      },
    });
  });

  it('makes secrets unreadable for other users', () => {
    for (const file of ['secret-key', 'postgres-password', 'first-project.json', 'logs/api.log']) {
      expect([file, statSync(join(home, file)).mode & 0o077]).toEqual([file, 0]);
    }
  });

  it('accepts the API keys that it created', async () => {
    const { baseUrl, secretKey } = service.dev();
    const response = await fetch(`${baseUrl}/contacts`, { headers: { authorization: `Bearer ${secretKey}` } });
    expect(response.status).toBe(200);
  });

  it('uses ports below the range for outgoing connections', () => {
    const { baseUrl, databaseUrl, temporal } = service.dev();
    const ports = [baseUrl, databaseUrl, `http://${temporal.address}`, temporal.ui ?? ''].map((url) =>
      Number(new URL(url).port),
    );
    for (const port of ports) expect(port).toBeLessThan(32_768);
  });

  it('refuses a second start on the same home with one line', async () => {
    const second = await startAndWaitForExit({ home });
    expect(second.code).toBe(1);
    expect(second.output.trim().split('\n')).toHaveLength(1);
    expect(second.output).toContain(`(process ${service.pid})`);
    expect((await fetch(`${service.dev().baseUrl}/health`)).status).toBe(200);
  });

  it.each(['api', 'worker', 'temporal', 'postgres'] as const)(
    'restarts the %s if it is killed, and dev.json names the new process',
    async (kind) => {
      const findPid = () => ({ ...service.dev().pids, worker: service.dev().pids.workers[0] })[kind] ?? 0;
      const killed = findPid();
      process.kill(killed, 'SIGKILL');
      await waitForCondition(service, () => findPid() !== killed && identifyProcess(findPid()) !== undefined);
      expect(service.output()).toContain(`(process ${killed}) ended unexpectedly: SIGKILL`);
      await waitForCondition(service, () => isResponding(`${service.dev().baseUrl}/health/ready`));
    },
  );

  it('stops its parts in order at SIGTERM: API, workers, Temporal, and Postgres last', async () => {
    const { api, workers, temporal, postgres } = service.dev().pids;
    const ends = [api, ...workers, temporal, postgres].map((pid) => waitForEnd(pid));
    service.signal('SIGTERM');
    service.signal('SIGINT'); // Ctrl-C sends the signal twice within milliseconds, which does not count as a second signal.
    expect(await service.exited).toBe(0);
    const endedAt = await Promise.all(ends);
    expect(endedAt).toEqual([...endedAt].sort((a, b) => a - b));
    expect(() => service.dev()).toThrow('there is no dev.json');
  });
});

describe('npm start on a home that was used earlier', () => {
  it('continues with the same project, keys, ports and data after everything was killed', async () => {
    const first = await startService({ home });
    const before = first.dev();
    const linkBefore = await readSignInLink(first);
    await execute(before.databaseUrl, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const identities = listPids(before).map((pid) => identifyProcess(pid));
    for (const pid of listPids(before)) process.kill(pid, 'SIGKILL');
    await first.exited;
    await until(
      () => identities.every((identity) => identity === undefined || !isAlive(identity)),
      'the end of every process',
    );

    service = await startService({ home });
    const { pids: _before, ...facts } = before;
    const { pids: _after, ...factsAfter } = service.dev();
    expect(factsAfter).toEqual(facts);
    expect(await readSignInLink(service)).not.toBe(linkBefore);
    const old = await fetch(linkBefore, { redirect: 'manual' });
    expect(old.headers.get('location')).toBe('/app/sign-in?link=ended');
    expect(await execute(before.databaseUrl, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('adopts or ends the processes that a killed parent left running', async () => {
    const before = service.dev();
    const identities = listPids(before).flatMap((pid) => identifyProcess(pid) ?? []);
    service.signal('SIGKILL');
    await service.exited;
    service = await startService({ home });
    expect(service.dev().pids.postgres).toBe(before.pids.postgres);
    const left = identities.filter((identity) => identity.pid !== before.pids.postgres && isAlive(identity));
    expect(left).toEqual([]);
    expect(await isResponding(`${service.dev().baseUrl}/health/ready`)).toBe(true);
  });

  it('stops at once at a second signal', async () => {
    const identities = listPids(service.dev()).flatMap((pid) => identifyProcess(pid) ?? []) as ProcessIdentity[];
    service.signal('SIGSTOP'); // The first stop must still be running when the second signal arrives.
    process.kill(service.dev().pids.api, 'SIGSTOP');
    service.signal('SIGCONT');
    service.signal('SIGINT');
    await waitForCondition(service, () => service.output().includes('Stopping …'));
    // A second signal within half a second counts as part of the first, because a terminal signals the whole group.
    await until(() => {
      service.signal('SIGINT');
      return service.output().includes('Stopping immediately …');
    }, 'the stop at the second signal');
    await service.exited;
    await until(() => !identities.some(isAlive), 'the end of every process');
  });
});

async function waitForEnd(pid: number | null): Promise<number> {
  const identity = identifyProcess(pid ?? 0);
  while (identity && isAlive(identity)) await sleep(5);
  return Date.now();
}

async function isResponding(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return response?.status === 200;
}

async function execute(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
