import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerBacklogMetrics } from '../../api/http/backlog-metrics.ts';
import { createBacklogReader } from '../../db/outbox/outbox-backlog.ts';
import { buildWorkflow } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const countOutbox = async () =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM outbox`.execute(service.db)).rows[0]?.n ?? 0;

it('an outbox row is deleted as soon as its workflow starts, not only when its lease expires', async () => {
  const workflow = await buildWorkflow(service, {
    eventName: 'waits',
    steps: {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid' }, to: { event: 'end' } },
      end: { type: 'EXIT', config: {} },
    },
  });
  for (let n = 0; n < 100; n += 1) {
    await service.call('POST', '/v1/track', { body: { email: `p${n}@example.com`, event: 'waits' } });
  }
  await until(async () => (await countOutbox()) === 0, 'the start of all executions');
  for (let n = 0; n < 100; n += 1) {
    await service.call('POST', '/v1/track', { body: { email: `p${n}@example.com`, event: 'paid' } });
  }
  await until(async () => (await countOutbox()) === 0, 'the arrival of all signals');
  await until(async () => {
    const { body } = await service.call('GET', `/workflows/${workflow.id}/executions?status=EXITED&limit=1`);
    return body.total === 100;
  }, 'the end of all executions');
});

it('the readiness check, the metrics and the execution itself report waiting work', async () => {
  await service.stopWorker();
  const workflow = await buildWorkflow(service, {
    eventName: 'told',
    steps: {
      pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'end' },
      end: { type: 'EXIT', config: {} },
    },
  });
  await service.call('POST', '/v1/track', { body: { email: 'told@example.com', event: 'told' } });
  const readExecution = async () => (await service.call('GET', `/workflows/${workflow.id}/executions`)).body.data[0];
  expect(await readExecution()).toMatchObject({ status: 'WAITING', begun: false });
  const kinds = await until(async () => {
    const { outbox } = (await service.call('GET', '/health/ready', { key: null })).body.details;
    return outbox.waiting > 0 && outbox.kinds;
  }, 'the backlog in readiness');
  expect(kinds).toEqual([{ kind: 'execution.start', waiting: 1, handedOver: 0, oldestSeconds: expect.any(Number) }]);
  const registry = new Registry();
  registerBacklogMetrics(registry, createBacklogReader(service.db));
  expect(await registry.metrics()).toContain(
    `tidings_outbox_waiting{kind="execution.start",project="${service.one.id}"} 1`,
  );
  await service.startWorker();
  await until(async () => (await readExecution()).begun, 'the start');
});
