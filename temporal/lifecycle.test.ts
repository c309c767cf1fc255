import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWorkflowLifecycle } from './lifecycle.ts';

const uncaught: Error[] = [];
const note = (error: Error) => void uncaught.push(error);
beforeEach(() => void process.on('uncaughtExceptionMonitor', note));
afterEach(() => void process.off('uncaughtExceptionMonitor', note));

/** Returns an address at which no server listens. */
async function findUnusedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

it('waits for calls to an unreachable Temporal before it closes the connection', async () => {
  const lifecycle = createWorkflowLifecycle({
    temporal: { address: await findUnusedAddress(), namespace: 'default' } as Parameters<
      typeof createWorkflowLifecycle
    >[0]['temporal'],
    installation: { id: randomUUID(), shortId: '3f9a1c07', legacyBefore: null, legacyClosedAt: null },
    publicUrl: 'http://localhost',
  });
  const results = [lifecycle.ping(), lifecycle.findRunId('x')].map((result) => result.catch(() => 'no'));
  await sleep(300); // The client is now waiting between two attempts.
  await lifecycle.close();
  expect(await Promise.all(results)).toEqual(['no', null]);
  expect(uncaught).toEqual([]);
}, 30_000);
