import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS, RETRY_SECONDS } from '../../rules/webhooks/registry.ts';
import { track } from '../build/events.ts';
import { expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createTestTemporal } from '../support/services.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { withWorkers } from '../support/with-workers.ts';

let service: TestService;
let receiver: WebhookReceiver;
let client: Client;

beforeAll(async () => {
  service = await startTestService();
  const { address, namespace } = service.temporal;
  client = new Client({ connection: await Connection.connect({ address }), namespace });
  receiver = await startWebhookReceiver((_, response) => response.writeHead(503).end());
});

afterAll(async () => {
  await receiver?.close();
  await client?.connection.close();
  await service?.close();
});

const createEndpoint = (path: string, event: string) =>
  expectOk(service.call('POST', '/webhooks', { body: { url: receiver.url + path, events: [event] } }));
const readEndpoint = (id: string) => expectOk(service.call('GET', `/webhooks/${id}`));
const listDeliveries = async (id: string) => (await expectOk(service.call('GET', `/webhooks/${id}/deliveries`))).data;
const getHandle = (id: string) => client.workflow.getHandle(service.names.webhooks(id));

/** Returns the seconds of the timers that the workflow of an endpoint has set so far. */
async function listTimers(id: string): Promise<number[]> {
  const { events } = await getHandle(id).fetchHistory();
  return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
    timer ? [Number(timer.startToFireTimeout?.seconds ?? 0)] : [],
  );
}

/** Makes the next attempt due now: changes the time of its row, and ends the timer. */
async function makeNextAttemptDue(id: string): Promise<void> {
  await sql`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = ${id}`.execute(service.db);
  await getHandle(id).signal('wake');
}

describe('a delivery that the endpoint never accepts', () => {
  it(`has ${MAX_ATTEMPTS} attempts over 24 hours, each wait a timer of Temporal, with one webhook-id, and is then FAILED`, async () => {
    const { id } = await createEndpoint('/never', 'never');
    await track(service, 'ada@example.com', 'never');
    for (let tries = 1; tries < MAX_ATTEMPTS; tries += 1) {
      await until(async () => (await listDeliveries(id))[0]?.attempts === tries, `attempt ${tries}`);
      await until(async () => (await listTimers(id)).length === tries, `the timer after attempt ${tries}`);
      await makeNextAttemptDue(id);
    }
    const failed = await until(async () =>
      (await listDeliveries(id)).find((d: { status: string }) => d.status === 'FAILED'),
    );
    expect(failed).toMatchObject({ attempts: MAX_ATTEMPTS, responseStatus: 503, nextAttemptAt: null });
    expect(new Set(receiver.received.map((request) => request.headers['webhook-id']))).toEqual(new Set([failed.id]));
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS);
    // The timer has the time that remained when it was set. It is longer than the previous wait.
    const timers = await listTimers(id);
    expect(timers).toHaveLength(RETRY_SECONDS.length);
    for (const [n, seconds] of RETRY_SECONDS.entries()) {
      expect(timers[n]).toBeLessThanOrEqual(seconds);
      expect(timers[n]).toBeGreaterThanOrEqual(RETRY_SECONDS[n - 1] ?? 0);
    }
    await getHandle(id).result();
    expect(await readEndpoint(id)).toMatchObject({ status: 'ACTIVE', failuresInRow: MAX_ATTEMPTS });
  });

  it("is sent again with all failures since a given time, at the owner's request", async () => {
    const { id } = await createEndpoint('/again', 'again');
    await track(service, 'ada@example.com', 'again');
    await until(async () => (await listDeliveries(id))[0]?.attempts === 1, 'the first attempt');
    await sql`UPDATE webhook_deliveries SET status = 'FAILED', attempts = 8, next_attempt_at = NULL WHERE endpoint_id = ${id}`.execute(
      service.db,
    );
    const body = { since: new Date(0).toISOString(), status: 'FAILED' };
    expect(await expectOk(service.call('POST', `/webhooks/${id}/replay`, { body }))).toMatchObject({ replayed: 1 });
    await until(async () => receiver.received.filter(({ path }) => path === '/again').length === 2, 'the replay');
  });
});

describe('an endpoint that has failed for five days', () => {
  it('is disabled and its waiting deliveries are FAILED, until the owner enables it', async () => {
    const { id } = await createEndpoint('/long', 'long');
    await track(service, 'ada@example.com', 'long');
    await until(async () => (await listDeliveries(id))[0]?.attempts === 1, 'the first attempt');
    const failFor121Hours = (failures: number) =>
      sql`
        UPDATE webhook_endpoints SET failing_since = now() - interval '121 hours', failures_in_row = ${failures}
        WHERE id = ${id}`.execute(service.db);
    // A single failure days after the last event is not enough.
    await failFor121Hours(1);
    await track(service, 'ada@example.com', 'long');
    await until(async () => (await readEndpoint(id)).failuresInRow >= 2, 'the second failure');
    expect((await readEndpoint(id)).status).toBe('ACTIVE');
    await failFor121Hours(9);
    await track(service, 'ada@example.com', 'long');
    await until(async () => (await readEndpoint(id)).status === 'DISABLED', 'the end of the endpoint');
    expect(await readEndpoint(id)).toMatchObject({ disabledReason: 'failing', enabled: false });
    await until(async () => (await listDeliveries(id)).every((d: { status: string }) => d.status === 'FAILED'));
    await track(service, 'ada@example.com', 'long');
    expect(await listDeliveries(id)).toHaveLength(3);
    await expectOk(service.call('PATCH', `/webhooks/${id}`, { body: { enabled: true } }));
    await track(service, 'ada@example.com', 'long');
    await until(async () => (await listDeliveries(id))[0]?.attempts === 1 && (await listDeliveries(id)).length === 4);
    expect(await readEndpoint(id)).toMatchObject({ status: 'ACTIVE', failuresInRow: 1 });
  });
});

describe('the workflow of an endpoint', () => {
  it('runs the next turn when it is due or woken, and ends when no delivery is left', async () => {
    const temporal = await createTestTemporal();
    const results = [
      { nextDueAt: new Date(Date.now() + 500).toISOString(), waitMs: 500 },
      { nextDueAt: new Date(Date.now() + 3_600_000).toISOString(), waitMs: 3_600_000 },
      { nextDueAt: new Date().toISOString(), waitMs: 0 },
      { nextDueAt: null },
    ];
    let turns = 0;
    const deliverWebhooks = async () => results[turns++];
    await withWorkers(temporal, { taskQueue: 'webhooks', activities: { deliverWebhooks } }, async (own) => {
      const handle = await own.workflow.start('webhookDelivery', {
        taskQueue: 'workflows',
        workflowId: 'endpoint',
        args: [{ projectId: 'p', endpointId: 'e' }],
      });
      await until(async () => turns === 2, 'the turn after the timer');
      await handle.signal('wake');
      await handle.result();
    });
    expect(turns).toBe(4);
  });
});
