import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { compute, computeSlowly } from '../support/slow-workflows.ts';
import { bundleTestWorkflows, startWorkersWithBundle } from '../support/workflow-build.ts';

const BUNDLE = join(tmpdir(), `slow-workflows-${process.pid}.js`);
/** Longer than the SDK's default limit of 5 s. */
const COMPUTE_SECONDS = 6;
const SAMPLE_ROUNDS = 50_000_000;

let temporal: TestTemporal;
let connection: Connection;
let workers: { close(): Promise<void> } | undefined;

beforeAll(async () => {
  temporal = await createTestTemporal();
  connection = await Connection.connect({ address: temporal.address });
  await bundleTestWorkflows('slow-workflows.ts', BUNDLE);
  workers = await startWorkersWithBundle({ ...temporal, taskQueue: (queue) => queue, bundle: BUNDLE });
});
afterAll(async () => {
  await workers?.close();
  await connection?.close();
  rmSync(BUNDLE, { force: true });
});

/** Returns the number of rounds that take this processor a number of seconds. */
function countRounds(seconds: number): number {
  const before = process.cpuUsage();
  computeSlowly(SAMPLE_ROUNDS);
  const { user } = process.cpuUsage(before);
  return Math.round((SAMPLE_ROUNDS * seconds * 1e6) / user);
}

it('a workflow task that computes for 6 s completes', async () => {
  const client = new Client({ connection, namespace: temporal.namespace });
  const rounds = countRounds(COMPUTE_SECONDS);
  const result = await client.workflow.execute(compute, {
    args: [rounds],
    taskQueue: 'workflows',
    workflowId: 'slow',
    // Temporal would start the task again after 10 s, its default.
    workflowTaskTimeout: '2 minutes',
  });
  expect(result).toBeGreaterThan(0);
});
