import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { buildContacts } from '../build/campaigns.ts';
import { expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type ReceivedRequest, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const EVENTS = 10_000;
/** Number of concurrent events of another project. */
const OTHERS = 50;
/** Only a hang causes an endpoint to get no new delivery for this time. */
const STILL_MS = 400_000;
/** A time limit for the whole test that only ends hangs. A busy machine takes ten minutes. */
const ALL = { timeout: 3_600_000 };
/** Time that the slow endpoint takes for each response. */
const SLOW_MS = 3_000;

let service: TestService;
let receiver: WebhookReceiver;
let client: Client;
let verifier: Webhook;
/** Errors of the signatures at the healthy endpoint. */
const signatureErrors: unknown[] = [];

/** Verifies a signature when its request arrives, because the library refuses signatures that are 5 minutes old. */
function verifyOnArrival(body: string, headers: Record<string, string>): void {
  try {
    verifier.verify(body, headers);
  } catch (error) {
    signatureErrors.push(error);
  }
}

beforeAll(async () => {
  service = await startTestService();
  const { address, namespace } = service.temporal;
  client = new Client({ connection: await Connection.connect({ address }), namespace });
  receiver = await startWebhookReceiver(async ({ path, body, headers }, response) => {
    if (path === '/hanging') return;
    if (path === '/well') verifyOnArrival(body, headers as Record<string, string>);
    if (path === '/slow') await sleep(SLOW_MS);
    response.end('ok');
  });
});

afterAll(async () => {
  await receiver?.close();
  await client?.connection.close();
  await service?.close();
});

interface Endpoint {
  id: string;
  secret: string;
}

const createEndpoint = (url: string, events: string[], key = service.one.secretKey): Promise<Endpoint> =>
  expectOk(service.call('POST', '/webhooks', { key, body: { url, events } }));
const readStatus = async ({ id }: Endpoint) => (await expectOk(service.call('GET', `/webhooks/${id}`))).status;
const listRequestsTo = (path: string, from = receiver) => from.received.filter((request) => request.path === path);
const listIds = (requests: ReceivedRequest[]) => new Set(requests.map((request) => request.headers['webhook-id']));

/** Waits until an endpoint has received every event, and each delivery is recorded. */
async function waitForAll(endpoint: Endpoint, path: string, from = receiver): Promise<void> {
  let last = { count: -1, at: Date.now() };
  const reasonToStop = () => (Date.now() - last.at > STILL_MS ? `still at ${last.count} of ${EVENTS}` : undefined);
  const options = { timeoutMs: ALL.timeout, reasonToStop };
  await until(
    async () => {
      const count = listIds(listRequestsTo(path, from)).size;
      if (count > last.count) last = { count, at: Date.now() };
      return count === EVENTS && (await countDeliveries(endpoint)).DELIVERED?.count === EVENTS;
    },
    `all deliveries to ${path}`,
    options,
  );
}

/** Returns the number of deliveries of an endpoint by status, and the number of their attempts. */
async function countDeliveries({ id }: Endpoint): Promise<Record<string, { count: number; tries: number }>> {
  const { rows } = await sql<{ status: string; count: number; tries: number }>`
    SELECT status, count(*) AS count, sum(attempts) AS tries FROM webhook_deliveries WHERE endpoint_id = ${id} GROUP BY status
  `.execute(service.db);
  return Object.fromEntries(rows.map(({ status, count, tries }) => [status, { count, tries }]));
}

/** Returns the number of turns in all runs of an endpoint's workflow. */
async function countTurns({ id }: Endpoint): Promise<number> {
  let turns = 0;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${service.names.webhooks(id)}'` })) {
    const { events } = await client.workflow.getHandle(service.names.webhooks(id), runId).fetchHistory();
    turns += events?.filter((event) => event.activityTaskScheduledEventAttributes).length ?? 0;
  }
  return turns;
}

/** Makes one import request that causes an event for each contact. */
async function unsubscribeAllByImport(): Promise<void> {
  const rows = Array.from({ length: EVENTS }, (_, n) => `r${n}@to.test,false`);
  const form = new FormData();
  form.set('file', new File([['email,subscribed', ...rows].join('\n')], 'all.csv', { type: 'text/csv' }));
  const headers = { authorization: `Bearer ${service.one.secretKey}` };
  const response = await fetch(`${service.baseUrl}/contacts/import`, { method: 'POST', headers, body: form });
  expect(response.status).toBe(202);
}

describe(`${EVENTS.toLocaleString('en')} events to a healthy, a slow, a hanging and an unreachable endpoint`, () => {
  const event = ['contact.unsubscribed'];
  let [well, slow, hanging, dead, other] = [] as unknown as [Endpoint, Endpoint, Endpoint, Endpoint, Endpoint];
  let deadPort: number;

  beforeAll(async () => {
    deadPort = await findFreePort();
    slow = await createEndpoint(`${receiver.url}/slow`, event);
    hanging = await createEndpoint(`${receiver.url}/hanging`, event);
    dead = await createEndpoint(`http://127.0.0.1:${deadPort}/dead`, event);
    well = await createEndpoint(`${receiver.url}/well`, event);
    verifier = new Webhook(well.secret);
    other = await createEndpoint(`${receiver.url}/other`, ['order'], service.two.secretKey);
    await buildContacts(service.db, { projectId: service.one.id, count: EVENTS });
    await unsubscribeAllByImport();
    await until(
      async () => listRequestsTo('/slow').length > 0 && listRequestsTo('/hanging').length > 0,
      'the first requests',
    );
  });

  it('do not delay another project', async () => {
    const key = service.two.secretKey;
    for (let n = 0; n < OTHERS; n += 1) {
      const body = { email: `other${n}@example.com`, event: 'order' };
      await expectOk(service.call('POST', '/v1/track', { key, body }));
    }
    await until(async () => listIds(listRequestsTo('/other')).size === OTHERS, 'the deliveries of the other project');
    expect(listIds(listRequestsTo('/slow')).size).toBeLessThan(EVENTS);
    await until(async () => (await countDeliveries(other)).DELIVERED?.count === OTHERS, 'their records');
  });

  it('reach the healthy endpoint, each once, before the others', ALL, async () => {
    await waitForAll(well, '/well');
    // The slow endpoint takes 25 minutes for all events, with 20 concurrent requests.
    expect(listIds(listRequestsTo('/slow')).size).toBeLessThan(EVENTS);
    expect(listIds(listRequestsTo('/hanging')).size).toBeLessThan(EVENTS);
    expect(await countDeliveries(well)).toEqual({ DELIVERED: { count: EVENTS, tries: EVENTS } });
    expect(listRequestsTo('/well')).toHaveLength(EVENTS);
    expect(signatureErrors).toEqual([]);
  });

  it('degrade the failing endpoints, which are attempted rarely, and no delivery is lost', async () => {
    await until(async () => (await readStatus(dead)) === 'DEGRADED' && (await readStatus(hanging)) === 'DEGRADED');
    expect(await readStatus(slow)).toBe('ACTIVE');
    for (const endpoint of [dead, hanging]) {
      const { PENDING } = await countDeliveries(endpoint);
      expect(PENDING?.count).toBe(EVENTS);
      // The attempts are those in progress when the endpoint was degraded, and one or two probes.
      expect(PENDING?.tries).toBeLessThan(50);
    }
  });

  it('need one workflow per endpoint and few activities, not one workflow per event', async () => {
    for (const endpoint of [well, slow, hanging, dead, other]) {
      expect(await countTurns(endpoint)).toBeLessThan(EVENTS / 100);
    }
  });

  it('reach the unreachable endpoint once it is back and its owner requests them', ALL, async () => {
    const back = await startWebhookReceiver(undefined, deadPort);
    // A repeated test needs the port again.
    onTestFinished(() => back.close());
    const body = { since: new Date(0).toISOString(), status: 'PENDING' };
    await expectOk(service.call('POST', `/webhooks/${dead.id}/replay`, { body }));
    await waitForAll(dead, '/dead', back);
    expect(await readStatus(dead)).toBe('ACTIVE');
  });
});
