import { sql } from 'kysely';
import { afterAll, beforeAll, test } from 'vitest';
import { buildWorkflow } from '../build/workflows.ts';
import { startTestService, type TestService, until } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const waiting = async () =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM outbox`.execute(service.db)).rows[0]?.n ?? 0;

test('a row is forgotten as soon as its workflow begins, not only when its lease runs out', async () => {
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
  await until(async () => (await waiting()) === 0, 'the begin of all executions');
  for (let n = 0; n < 100; n += 1) {
    await service.call('POST', '/v1/track', { body: { email: `p${n}@example.com`, event: 'paid' } });
  }
  await until(async () => (await waiting()) === 0, 'the arrival of all signals');
  await until(async () => {
    const { body } = await service.call('GET', `/workflows/${workflow.id}/executions?status=EXITED&limit=1`);
    return body.total === 100;
  }, 'the end of all executions');
});
