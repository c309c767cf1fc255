import { afterAll, beforeAll, inject, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildWorkflow, listExecutions } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(async () => {
  await service?.close();
});

/**
 * Returns the number of activities that Temporal gave to workers in the response to a workflow task, in the namespace
 * of this file.
 */
async function countEagerActivities(): Promise<number> {
  const metrics = await (await fetch(inject('temporalMetrics'))).text();
  // Labels of metrics contain underscores instead of hyphens.
  const namespace = service.temporal.namespace.replace('-', '_');
  const mine = new RegExp(`^activity_eager_execution\\{.*namespace="${namespace}".*\\} (\\d+)$`, 'm');
  return Number(mine.exec(metrics)?.[1] ?? 0);
}

it('Temporal gives a step of an execution directly to the worker of its workflow', async () => {
  const workflow = await buildWorkflow(service, {
    eventName: 'eager',
    steps: {
      first: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'one' } }, to: 'second' },
      second: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'two' } } },
    },
  });
  await track(service, 'eager@example.com', 'eager');
  await until(async () => (await listExecutions(service, workflow.id))[0]?.completedAt, 'the end of the execution');
  // Temporal publishes its counters once per second.
  await until(async () => (await countEagerActivities()) === 2, 'both steps to be counted as eager activities');
});
