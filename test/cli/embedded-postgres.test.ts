import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../cli/start/embedded-postgres.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { isAlive, listProcessesIn } from '../../cli/start/processes.ts';

/** Postgres does not run as root and needs access, but mkdtemp creates folders with mode 700. */
const folder = mkdtempSync(join(tmpdir(), 'tidings-postgres-'));
const dataFolder = join(folder, 'postgres', 'data');
const umask = process.umask();
let postgres: EmbeddedPostgres;
let port: number;

const start = () =>
  startEmbeddedPostgres({ dataFolder, logFile: join(folder, 'postgres.log'), port, password: 'p@ss/word' });

beforeAll(async () => {
  process.umask(0o077);
  port = await findFreePort();
  postgres = await start();
});
afterAll(async () => {
  process.umask(umask);
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function execute(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(postgres.url);
  client.on('error', () => {}); // One of the tests kills the server.
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function readValue(sql: string): Promise<unknown> {
  return Object.values((await execute(sql))[0] ?? {})[0];
}

it('the embedded server is Postgres 18 with UTF-8 and full durability, and only its owner can read its files', async () => {
  expect(await readValue('SHOW server_encoding')).toBe('UTF8');
  expect(String(await readValue('SHOW server_version'))).toMatch(/^18\./);
  expect([await readValue('SHOW fsync'), await readValue('SHOW synchronous_commit')]).toEqual(['on', 'on']);
  expect(statSync(dataFolder).mode & 0o077).toBe(0);
  expect(await readValue("SELECT lower('ÄÖÜ')")).toBe('äöü');
});

it('the embedded server requires the password', async () => {
  const client = new pg.Client(postgres.url.replace(/:[^:@]+@/, ':wrong@'));
  await expect(client.connect()).rejects.toThrow('password authentication failed');
});

it('a start adopts a server that is already running, and notices when the server ends', async () => {
  const adopted = await start();
  expect(adopted.identity).toEqual(postgres.identity);
  expect(adopted.url).toBe(postgres.url);
  await adopted.stop();
  expect(await postgres.ended).toBe('exit code 0');
  expect(await adopted.ended).toBe('ended');
  postgres = await start();
});

it('the embedded server starts again after kill -9 with all committed data, although a backend still runs', async () => {
  await execute('CREATE TABLE kept AS SELECT 1 AS n');
  const busy = readValue('SELECT pg_sleep(60)').catch(() => 'lost');
  process.kill(postgres.identity.pid, 'SIGKILL');
  expect(await postgres.ended).toBe('SIGKILL');
  postgres = await start();
  expect(await busy).toBe('lost');
  expect(await readValue('SELECT n FROM kept')).toBe(1);
});

it('a start removes a lock that names a process of another program', async () => {
  const lockFile = join(dataFolder, 'postmaster.pid');
  const lock = readFileSync(lockFile, 'utf8');
  await postgres.stop();
  writeFileSync(lockFile, lock.replace(/^\d+/, String(process.pid)));
  postgres = await start();
  expect(postgres.identity.pid).not.toBe(process.pid);
  expect(await readValue('SELECT 1')).toBe(1);
});

it('the embedded server leaves no process behind when it stops', async () => {
  const { identity } = postgres;
  await postgres.stop();
  expect(isAlive(identity)).toBe(false);
  expect(listProcessesIn(dataFolder)).toEqual([]);
  postgres = await start();
});

it('a start refuses data of another major version, and says how to convert the data', async () => {
  await postgres.stop();
  const versionFile = join(dataFolder, 'PG_VERSION');
  const version = readFileSync(versionFile, 'utf8');
  writeFileSync(versionFile, '17\n');
  await expect(start()).rejects.toThrow(/written by Postgres 17.*has Postgres 18/);
  writeFileSync(versionFile, version);
  postgres = await start();
});
