import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { insertEndpoint } from '../../db/webhooks/endpoints.ts';
import { recordEvents } from '../../engine/events/record-events.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HostProcess, startWorkerHost } from '../support/host-process.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const EVENTS = 400;
/** Concurrent requests of a turn (activities/webhooks/turn.ts), which may arrive twice after a kill. */
const WIDTH = 20;

let database: TestDatabase;
let temporal: TestTemporal;
let receiver: WebhookReceiver;
let running: HostProcess[] = [];

beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  receiver = await startWebhookReceiver(async (_, response) => {
    await sleep(20);
    response.end('ok');
  });
});
afterEach(async () => {
  await Promise.all(running.map((host) => host.kill()));
  running = [];
});
afterAll(async () => {
  await receiver?.close();
  await database?.drop();
});

async function startWorker(): Promise<HostProcess> {
  const host = await startWorkerHost({ database, temporal, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  running.push(host);
  return host;
}

it('a killed worker loses no webhook event, and repeats at most its running requests', async () => {
  const { id: projectId } = await buildProject(database.db, 'Kill');
  const atRestKey = deriveKey(TEST_SECRET_KEY, 'at-rest');
  const endpoint = { projectId, url: receiver.url, events: ['happened'], description: null, atRestKey };
  await inTransaction(database.db, (trx) => insertEndpoint(trx, endpoint));
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    contactId: null,
    name: 'happened',
    data: { n },
    untrusted: false,
    untrustedTrigger: false,
    causeId: null,
  }));
  await inTransaction(database.db, (trx) => recordEvents(trx, { projectId, events }));

  const worker = await startWorker();
  const countArrived = () => new Set(receiver.received.map((request) => request.headers['webhook-id'])).size;
  await expect.poll(countArrived, { interval: 5 }).toBeGreaterThan(EVENTS / 4);
  await worker.kill();
  expect(countArrived()).toBeLessThan(EVENTS);
  await startWorker();
  await expect.poll(countArrived, { interval: 100 }).toBe(EVENTS);
  expect(receiver.received.length - EVENTS).toBeLessThanOrEqual(WIDTH);
  const listPending = () =>
    database.db.selectFrom('webhook_deliveries').select('id').where('status', '=', 'PENDING').execute();
  await expect.poll(async () => (await listPending()).length).toBe(0);
});
