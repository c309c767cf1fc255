import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { killIfHung } from '../../cli/start/hung-temporal.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { isAlive, sendSignal } from '../../cli/start/processes.ts';
import { findTemporalBinary } from '../../cli/start/temporal-binary.ts';
import { hasNamespace, startTemporalServer, type TemporalServer } from '../../cli/start/temporal-server.ts';
import { createWorkflowLifecycle } from '../../temporal/lifecycle.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'hung-temporal-'));
const namespace = 'default';
let server: TemporalServer;

beforeAll(async () => {
  server = await startTemporalServer({
    binary: await findTemporalBinary({
      cliPath: process.env.TEMPORAL_CLI_PATH,
      binFolder: folder,
      env: process.env,
      progress: () => {},
      signal: new AbortController().signal,
    }),
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    namespace,
    port: await findFreePort(),
    uiPort: await findFreePort(),
    httpPort: await findFreePort(),
    metricsPort: await findFreePort(),
  });
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('the check of readiness reads from the database of Temporal', async () => {
  const pingOf = async (name: string) => {
    const lifecycle = createWorkflowLifecycle({
      temporal: { address: server.address, namespace: name } as Parameters<
        typeof createWorkflowLifecycle
      >[0]['temporal'],
      installation: { id: randomUUID(), shortId: '3f9a1c07', legacyBefore: null, legacyClosedAt: null },
      publicUrl: 'http://localhost',
    });
    return lifecycle.ping().finally(() => lifecycle.close());
  };
  await expect(pingOf(namespace)).resolves.toBeUndefined();
  await expect(pingOf('missing')).rejects.toThrow();
});

it('a Temporal server that hangs is killed after eight failed checks in a row', async () => {
  const lines: string[] = [];
  const checks = [...Array(7).fill(false), true, ...Array(7).fill(false)];
  const responds = async () => checks.shift() ?? hasNamespace(server.address, namespace, 500);
  const watch = killIfHung(server, { responds, writeLine: (line) => lines.push(line), pauseMs: 1 });
  await until(async () => checks.length === 0 || undefined, 'the first checks');
  expect([isAlive(server.identity), lines]).toEqual([true, []]);
  sendSignal(server.identity, 'SIGSTOP');
  await watch;
  expect(await server.ended).toBe('SIGKILL');
  expect(lines).toEqual([expect.stringContaining('Temporal failed 8 checks in a row')]);
});
