import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { readInstallation } from '../../db/installation/installation.ts';
import { InstallationNames } from '../../temporal/names.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let names: InstallationNames;
let operator: TestOperator;
let worker: HostProcess;
let metricsPort: number;

beforeAll(async () => {
  database = await createTestDatabase();
  const temporal = await createTestTemporal();
  names = new InstallationNames(await readInstallation(database.db));
  operator = await connectOperator({ temporal, names });
  // The SDK has one set of metrics for each process. Other tests end workflows in this process, so the worker has its
  // own process.
  const startMeasuredWorker = async () => {
    metricsPort = await findFreePort();
    return startWorkerHost({ database, temporal, env: { METRICS_PORT: String(metricsPort) } });
  };
  // Another program may use the port before the worker does.
  worker = await startMeasuredWorker().catch(startMeasuredWorker);
});
afterAll(async () => {
  await operator?.close();
  await worker?.stop();
  await database?.drop();
});

/** Returns a counter of the worker, added up over all of its labels. */
async function readCounter(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:_total)?\\{[^}]*\\} (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Starts a workflow for a record that does not exist. The workflow fails. */
async function runFailingWorkflow(type: string, input: object): Promise<void> {
  const options = {
    taskQueue: names.taskQueue('workflows'),
    workflowId: `missing-${randomUUID()}`,
    args: [{ projectId: randomUUID(), ...input }],
  };
  await expect(operator.client.workflow.execute(type, options)).rejects.toMatchObject({
    cause: { type: 'ROW_MISSING' },
  });
}

it('the metric temporal_workflow_failed counts exactly the workflows that Temporal lists as Failed', async () => {
  await runFailingWorkflow('campaignSend', { campaignId: randomUUID(), sendNo: 1 });
  await runFailingWorkflow('contactImport', { jobId: randomUUID(), kind: 'import' });
  await runFailingWorkflow('webhookDelivery', { endpointId: randomUUID() });
  expect(await operator.runRound('statistics')).toMatchObject({ failed: [] });
  await until(
    async () => (await operator.client.workflow.count(`ExecutionStatus = 'Failed'`)).count === 3,
    'the list of failed workflows',
  );
  await until(async () => (await readCounter('temporal_workflow_completed')) > 0, 'the metric of completed workflows');
  expect(await readCounter('temporal_workflow_failed')).toBe(3);
});
