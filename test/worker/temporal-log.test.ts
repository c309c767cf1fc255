import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';
import { bundleTestWorkflows } from '../support/workflow-build.ts';

const BUNDLE = join(tmpdir(), `logged-workflows-${process.pid}.js`);
const SCRIPT = join(import.meta.dirname, '..', 'support', 'broken-worker.ts');

let temporal: TestTemporal;
let connection: Connection;
let worker: ChildProcess | undefined;

beforeAll(async () => {
  temporal = await createTestTemporal();
  connection = await Connection.connect({ address: temporal.address });
  await bundleTestWorkflows('broken-workflows.ts', BUNDLE);
});
afterAll(async () => {
  if (worker?.exitCode === null && worker.kill('SIGKILL')) await once(worker, 'exit');
  await connection?.close();
  rmSync(BUNDLE, { force: true });
});

it('warnings of the native part of the SDK are JSON lines of our log, without color codes and stacks', async () => {
  let output = '';
  worker = spawn(process.execPath, ['--import', 'tsx', SCRIPT, temporal.address, temporal.namespace, BUNDLE], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [worker.stdout, worker.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const client = new Client({ connection, namespace: temporal.namespace });
  await client.workflow.start('contactExecution', { taskQueue: 'workflows', workflowId: 'broken' });
  await until(() => output.includes('Failing workflow task'), 'the warning');
  const lines = output.split('\n').filter((line) => line !== '');
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  const warning = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg.includes('Failing workflow task'));
  expect(warning).toMatchObject({ level: 40 });
  expect(output).not.toContain('broken-workflows.ts');
});
