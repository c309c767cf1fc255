import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findFreePort } from '../../cli/start/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SECRET_KEY = 'a'.repeat(64);

/** A folder with the files that the Dockerfile copies into the image. */
let image: string;
let database: TestDatabase;
let temporal: TestTemporal;

beforeAll(async () => {
  image = mkdtempSync(join(tmpdir(), 'tidings-image-'));
  for (const name of ['package.json', 'package-lock.json', 'run.mjs', 'packages', 'dist'])
    cpSync(join(ROOT, name), join(image, name), { recursive: true });
  // Hard links make the copy fast. npm changes one of its files in place, so that file is copied.
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), image]);
  rmSync(join(image, 'node_modules', '.package-lock.json'));
  cpSync(join(ROOT, 'node_modules', '.package-lock.json'), join(image, 'node_modules', '.package-lock.json'));
  execFileSync('npm', ['prune', '--omit=dev', '--no-audit'], { cwd: image });
  execFileSync(process.execPath, [join(ROOT, 'build', 'prune-image.mjs')], { cwd: image });
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
});
afterAll(async () => {
  await database?.drop();
  rmSync(image, { recursive: true, force: true });
});

function createEnvironment(metricsPort: number): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: image,
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SECRET_KEY,
    METRICS_PORT: String(metricsPort),
  };
}

/** Runs a health check of docker-compose.yml with other ports. */
function runHealthCheck(service: 'api' | 'worker', ports: Record<string, number>): number | null {
  const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  const [kind, command, ...words] = compose.services[service].healthcheck.test as string[];
  expect([kind, command]).toEqual(['CMD', 'node']);
  const inPlace = words.map((word) => word.replace(/127\.0\.0\.1:(\d+)/, (_, port) => `127.0.0.1:${ports[port]}`));
  return spawnSync(process.execPath, inPlace).status;
}

async function stopAndReadExitCode(child: ChildProcess): Promise<number | null> {
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  return (await closed)[0];
}

it('the container image runs the worker, the API, doctor and operator without sources, bundler and embedded Postgres', async () => {
  const [metricsPort, port, apiMetricsPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const worker = spawn(process.execPath, ['dist/cli/worker.js'], { cwd: image, env: createEnvironment(metricsPort) });
  const api = spawn(process.execPath, ['dist/cli/api.js'], {
    cwd: image,
    env: { ...createEnvironment(apiMetricsPort), PORT: String(port) },
  });
  try {
    expect(runHealthCheck('worker', { 9464: 1 })).toBe(1);
    await until(() => worker.exitCode !== null || runHealthCheck('worker', { 9464: metricsPort }) === 0);
    await until(() => api.exitCode !== null || runHealthCheck('api', { 3000: port }) === 0);
    expect([worker.exitCode, api.exitCode]).toEqual([null, null]);

    const doctor = spawnSync('npm', ['run', '-s', 'doctor'], {
      cwd: image,
      env: createEnvironment(1),
      encoding: 'utf8',
    });
    expect(doctor.stdout).toMatch(/Postgres/);
    expect(doctor.stderr).toBe('');
    const operator = spawnSync('npm', ['run', '-s', 'operator'], {
      cwd: image,
      env: createEnvironment(1),
      encoding: 'utf8',
    });
    expect(operator.stdout + operator.stderr).toMatch(/operator/i);
  } finally {
    expect(await Promise.all([stopAndReadExitCode(worker), stopAndReadExitCode(api)])).toEqual([0, 0]);
  }
});
