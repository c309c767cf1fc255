import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readInstallation } from '../../db/installation/installation.ts';
import { deleteOutboxRows } from '../../db/outbox/outbox.ts';
import { parseConfig } from '../../rules/config.ts';
import { createWorkflowLifecycle } from '../../temporal/lifecycle.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import type { CallOptions } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';

// A database and a namespace that an earlier release has used. In that release, workflow ids, queues and schedules did
// not contain the name of the installation.

const LEGACY_SCHEDULES = { 'domain-checks': 'domainChecks', housekeeping: 'housekeeping' };
const HOUR_MS = 3_600_000;

let database: TestDatabase;
/**
 * A service that simulates the earlier release: all of its rows have workflow names without the installation's name.
 */
let earlier: TestService;
let service: TestService;
let operator: TestOperator;
const legacy: Record<'goesOn' | 'cancelled' | 'terminated', Legacy> = {} as never;

interface Legacy {
  automationId: string;
  executionId: string;
}

beforeAll(async () => {
  database = await createTestDatabase();
  const temporal = await createTestTemporal();
  earlier = await startTestService({}, { database, temporal, legacyBefore: new Date(Date.now() + HOUR_MS) });
  operator = await connectOperator(earlier);
  await earlier.stopWorker();
  legacy.goesOn = await startLegacyExecution('goes-on');
  legacy.cancelled = await startLegacyExecution('cancelled');
  legacy.terminated = await startLegacyExecution('terminated');
  await createLegacySchedules();
  await earlier.close();
  // Upgrades the installation.
  await database.db.updateTable('installation').set({ legacy_before: new Date() }).execute();
  service = await startTestService({}, { database, temporal, legacyCheckMs: 250 });
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await database?.drop();
});

const call = (target: TestService, method: string, path: string, body?: unknown) =>
  expectOk(target.call(method, path, { key: earlier.one.secretKey, body }));
const track = (target: TestService, event: string, email: string) =>
  call(target, 'POST', '/v1/track', { email, event });
const listExecutions = async (target: TestService, automationId: string) =>
  (await call(target, 'GET', `/workflows/${automationId}/executions`)).data;
const readLegacy = async ({ automationId }: Legacy) => (await listExecutions(service, automationId))[0];
const describeLegacy = ({ executionId }: Legacy) =>
  operator.client.workflow.getHandle(`execution-${executionId}`).describe();

/** Builds a workflow whose executions wait for an event, and end when the event occurs. */
async function buildWaitingWorkflow(target: TestService, eventName: string): Promise<string> {
  const caller = {
    call: (method: string, path: string, options?: CallOptions) =>
      target.call(method, path, { ...options, key: earlier.one.secretKey }),
  };
  const { id } = await buildWorkflow(caller, {
    eventName,
    steps: {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: `${eventName}-go` }, to: 'plan' },
      plan: { type: 'UPDATE_CONTACT', config: { updates: { plan: 'pro' } }, to: 'end' },
      end: { type: 'EXIT' },
    },
  });
  return id;
}

/** Builds an execution whose workflow the earlier release has started. */
async function startLegacyExecution(event: string): Promise<Legacy> {
  const automationId = await buildWaitingWorkflow(earlier, event);
  await track(earlier, event, `${event}@to.test`);
  const [execution] = await listExecutions(earlier, automationId);
  const row = await database.db
    .selectFrom('outbox')
    .select(['id', 'payload'])
    .where('ref_id', '=', execution.id)
    .executeTakeFirstOrThrow();
  const { workflowId: _automation, contactId: _contact, ...input } = row.payload as Record<string, unknown>;
  await operator.client.workflow.start('contactExecution', {
    taskQueue: 'workflows',
    workflowId: `execution-${execution.id}`,
    args: [input],
  });
  await deleteOutboxRows(database.db, [row.id]);
  return { automationId, executionId: execution.id };
}

async function createLegacySchedules(): Promise<void> {
  for (const [scheduleId, workflowType] of Object.entries(LEGACY_SCHEDULES))
    await operator.client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: '1 day' }] },
      action: { type: 'startWorkflow', workflowType, taskQueue: 'workflows', args: [] },
    });
}

async function listSchedules(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of operator.client.schedule.list()) ids.push(scheduleId);
  return ids;
}

it('a namespace of the earlier release gets the search attribute before the first schedule needs it', async () => {
  const { address, namespace } = await createTestTemporal();
  const connection = await Connection.connect({ address });
  const installation = await readInstallation(database.db);
  const lifecycle = createWorkflowLifecycle({
    temporal: parseConfig({
      DATABASE_URL: 'postgres://unused',
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      SECRET_KEY: 'the secret key of the tests',
    }).temporal,
    installation,
    publicUrl: 'http://127.0.0.1',
  });
  try {
    await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: ['Installation'] });
    await until(async () => {
      const query = "Installation = 'none'";
      return connection.workflowService.countWorkflowExecutions({ namespace, query }).then(
        () => false,
        () => true,
      );
    }, 'the namespace of the earlier release');
    await lifecycle.prepareNamespace();
    const { scheduleId } = await lifecycle.client.schedule.getHandle(lifecycle.names.schedule('recovery')).describe();
    expect(scheduleId).toBe(`${installation.shortId}-recovery`);
  } finally {
    await lifecycle.close();
    await connection.close();
  }
});

it('an execution of the earlier release continues under its old name and on its old queues', async () => {
  const { automationId, executionId } = legacy.goesOn;
  expect((await readLegacy(legacy.goesOn)).temporal.workflowId).toBe(`execution-${executionId}`);
  await track(service, 'goes-on-go', 'goes-on@to.test');
  await until(
    async () => (await listExecutions(service, automationId))[0].status === 'EXITED',
    'the end of the execution',
  );
  await until(async () => (await describeLegacy(legacy.goesOn)).status.name !== 'RUNNING', 'the end of its workflow');
  const { events } = await operator.client.workflow.getHandle(`execution-${executionId}`).fetchHistory();
  const queues = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.taskQueue?.name ?? []);
  expect(new Set(queues)).toEqual(new Set(['workflows']));
});

it('an execution of the earlier release can be cancelled', async () => {
  const { automationId, executionId } = legacy.cancelled;
  await call(service, 'DELETE', `/workflows/${automationId}/executions/${executionId}`);
  await until(async () => (await describeLegacy(legacy.cancelled)).status.name !== 'RUNNING', 'the cancellation');
});

it('recovery finds workflows that an operator terminated, started before or after the upgrade', async () => {
  const later = await buildWaitingWorkflow(service, 'later');
  await track(service, 'later', 'later@to.test');
  const execution = await until(async () => {
    const [found] = await listExecutions(service, later);
    return found?.begun && found;
  }, 'the start of the execution');
  expect(execution.temporal.workflowId).toBe(`execution-${service.names.shortId}-${execution.id}`);
  await operator.terminate(execution.temporal.workflowId);
  await operator.terminate(`execution-${legacy.terminated.executionId}`);
  await operator.runRecovery();
  expect((await listExecutions(service, later))[0]).toMatchObject({ status: 'CANCELLED' });
  expect(await readLegacy(legacy.terminated)).toMatchObject({ status: 'CANCELLED' });
});

it('the schedules of the earlier release are replaced', async () => {
  await until(async () => (await listSchedules()).every((id) => !(id in LEGACY_SCHEDULES)), 'the end of the schedules');
  expect(await listSchedules()).toContain(service.names.schedule('domains'));
});

it('the queues of the earlier release are no longer served when no workflow is open on them', async () => {
  const closed = await until(
    async () => (await readInstallation(database.db)).legacyClosedAt,
    'the end of the earlier queues',
  );
  for (const each of Object.values(legacy)) {
    const { closeTime } = await describeLegacy(each);
    expect(closeTime?.getTime()).toBeLessThan(closed.getTime());
  }
});
