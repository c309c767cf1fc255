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

/** Activities that Temporal gave out with the answer to a workflow task, in this file's namespace. */
async function eagerActivities(): Promise<number> {
  const metrics = await (await fetch(inject('temporalMetrics'))).text();
  const namespace = service.temporal.namespace.replace('-', '_'); // As labels are written.
  const mine = new RegExp(`^activity_eager_execution\\{.*namespace="${namespace}".*\\} (\\d+)$`, 'm');
  return Number(mine.exec(metrics)?.[1] ?? 0);
}

it('a step of an execution is given to the worker of its workflow without a queue', async () => {
  const workflow = await buildWorkflow(service, {
    eventName: 'eager',
    steps: {
      first: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'one' } }, to: 'second' },
      second: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'two' } } },
    },
  });
  await track(service, 'eager@example.com', 'eager');
  await until(async () => (await listExecutions(service, workflow.id))[0]?.completedAt, 'the end of the execution');
  // Temporal tells once a second what it has counted.
  await until(async () => (await eagerActivities()) === 2, 'both steps to be counted as eager activities');
});
