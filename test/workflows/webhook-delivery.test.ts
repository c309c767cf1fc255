import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
let receiver: WebhookReceiver;
let broken = true;

beforeAll(async () => {
  service = await startTestService();
  receiver = await startWebhookReceiver((request, response) => {
    if (request.path === '/gone') response.writeHead(410).end();
    else if (request.path === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
    else if (request.path === '/dead') response.writeHead(500).end();
    else if (request.path === '/broken' && broken) response.writeHead(503).end();
    else if (request.path === '/echo') response.end(`seen: ${request.headers.authorization}${'x'.repeat(20_000)}`);
    else response.end('ok');
  });
});

afterAll(async () => {
  await receiver?.close();
  await service?.close();
});

const createEndpoint = (path: string, events: string[]) =>
  expectOk(service.call('POST', '/webhooks', { body: { url: receiver.url + path, events } }));
const listDeliveries = async (id: string) =>
  (await expectOk(service.call('GET', `/webhooks/${id}/deliveries?limit=100`))).data;
const waitForEnds = (id: string, count: number) =>
  until(async () => {
    const all = await listDeliveries(id);
    return all.length === count && all.every((d: { completedAt: unknown }) => d.completedAt) ? all : undefined;
  }, 'the deliveries');

const waitForDelivered = (endpointId: string, count: number) =>
  until(async () => {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM webhook_deliveries WHERE endpoint_id = ${endpointId} AND status = 'DELIVERED'
    `.execute(service.db);
    return rows[0]?.count === count;
  }, 'the deliveries');

describe('a webhook endpoint', () => {
  it('gets each event that it subscribes to, with a signature that the public verifier accepts', async () => {
    const { id, secret } = await createEndpoint('/hook', ['order.*']);
    const { data } = await track(service, 'buyer@example.com', 'order.paid', { total: 12 });
    await track(service, 'buyer@example.com', 'other');
    const [delivery] = await waitForEnds(id, 1);
    expect(delivery).toMatchObject({ event: 'order.paid', status: 'DELIVERED', attempts: 1, responseStatus: 200 });
    expect(delivery.responseBody).toBe('ok');
    const request = receiver.received.find((r) => r.path === '/hook');
    expect(request?.headers['webhook-id']).toBe(delivery.id);
    const body = new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);
    expect(body).toMatchObject({
      id: delivery.id,
      type: 'order.paid',
      projectId: service.one.id,
      data: { contact: { id: data.contact, email: 'buyer@example.com', subscribed: true }, event: { total: 12 } },
    });
  });

  it('has its response stored without the credentials of its URL', async () => {
    const { url } = receiver;
    const body = { url: `${url.replace('://', '://shop:pa55word@')}/echo`, events: ['echoed'] };
    const { id } = await expectOk(service.call('POST', '/webhooks', { body }));
    await track(service, 'echo@example.com', 'echoed');
    const [delivery] = await waitForEnds(id, 1);
    expect(delivery.responseBody).toMatch(/^seen: Basic \*\*\*x+$/);
    expect(delivery.responseBody).toHaveLength(1_024);
  });

  it('shows its secret once and stores it encrypted, and both secrets sign for a day after a rotation', async () => {
    const { id, secret } = await createEndpoint('/rotated', ['rotated']);
    expect(JSON.stringify(await expectOk(service.call('GET', `/webhooks/${id}`)))).not.toContain('whsec_');
    const { rows } = await sql<{ secret: string }>`SELECT secret FROM webhook_endpoints WHERE id = ${id}`.execute(
      service.db,
    );
    expect(rows[0]?.secret).not.toContain(secret.slice(6));
    const rotated = await expectOk(service.call('POST', `/webhooks/${id}/rotate-secret`));
    await track(service, 'rotated@example.com', 'rotated');
    await waitForEnds(id, 1);
    const request = receiver.received.find((r) => r.path === '/rotated');
    for (const key of [secret, rotated.secret]) {
      new Webhook(key).verify(request?.body ?? '', request?.headers as Record<string, string>);
    }
  });

  it('is retried within a minute with the same webhook-id, and recovers on success', async () => {
    const { id } = await createEndpoint('/broken', ['retried']);
    await track(service, 'retried@example.com', 'retried');
    const first = await until(async () => {
      const [d] = await listDeliveries(id);
      return d?.attempts === 1 && d.nextAttemptAt ? d : undefined;
    }, 'the first attempt');
    expect(first).toMatchObject({ status: 'PENDING', responseStatus: 503 });
    expect(Date.parse(first.nextAttemptAt) - Date.now()).toBeLessThanOrEqual(60_000);
    broken = false;
    // The test repeats the delivery with the API, so that it does not wait for the timer.
    const replay = await expectOk(
      service.call('POST', `/v1/webhooks/${id}/replay`, { body: { since: first.createdAt } }),
    );
    expect(replay).toEqual({ replayed: 1, nextSince: null });
    expect(await waitForEnds(id, 1)).toMatchObject([{ status: 'DELIVERED' }]);
    const ids = receiver.received.filter((r) => r.path === '/broken').map((r) => r.headers['webhook-id']);
    expect(ids).toEqual([first.id, first.id]);
    // The service updates the endpoint's status right after it has recorded the deliveries.
    const recovered = await until(async () => {
      const endpoint = await expectOk(service.call('GET', `/webhooks/${id}`));
      return endpoint.failuresInRow === 0 && endpoint;
    }, 'the new status of the endpoint');
    expect(recovered).toMatchObject({ status: 'ACTIVE' });
  });

  it('gets a replay of all events since a time, with the same webhook-ids; the list counts deliveries', async () => {
    const { id } = await createEndpoint('/lost', ['lost']);
    const since = new Date(Date.now() - 1_000).toISOString();
    for (const email of ['a@example.com', 'b@example.com']) await track(service, email, 'lost');
    await waitForEnds(id, 2);
    expect(await expectOk(service.call('GET', `/webhooks/${id}/deliveries?limit=1`))).toMatchObject({ total: 2 });
    const failed = { since, status: 'FAILED' };
    expect(await expectOk(service.call('POST', `/webhooks/${id}/replay`, { body: failed }))).toMatchObject({
      replayed: 0,
    });
    expect(await expectOk(service.call('POST', `/webhooks/${id}/replay`, { body: { since } }))).toMatchObject({
      replayed: 2,
    });
    const ids = await until(async () => {
      const received = receiver.received.filter((r) => r.path === '/lost').map((r) => r.headers['webhook-id']);
      return received.length === 4 ? received : undefined;
    }, 'both once more');
    expect(new Set(ids).size).toBe(2);
  });

  it('is disabled at once if it returns 410, and the owner gets an email', async () => {
    await buildDomain(service.db, { projectId: service.one.id, domain: 'owner.example.com' });
    await sql`
      WITH u AS (INSERT INTO users (email, password_hash) VALUES ('owner@example.com', 'x') RETURNING id)
      INSERT INTO memberships (project_id, user_id, role) SELECT ${service.one.id}, id, 'OWNER' FROM u
    `.execute(service.db);
    const { id } = await createEndpoint('/gone', ['gone']);
    await track(service, 'gone@example.com', 'gone');
    await until(async () => (await expectOk(service.call('GET', `/webhooks/${id}`))).status === 'DISABLED');
    await until(async () => {
      const { rows } = await sql`SELECT 1 FROM captured_emails WHERE to_email = 'owner@example.com'`.execute(
        service.db,
      );
      return rows.length === 1;
    }, 'the email to the owner');
    await track(service, 'gone@example.com', 'gone');
    expect(await listDeliveries(id)).toHaveLength(1);
  });

  it('reports a redirect instead of following it', async () => {
    const { id } = await createEndpoint('/moved', ['moved']);
    await track(service, 'moved@example.com', 'moved');
    await until(async () => (await listDeliveries(id))[0]?.responseStatus === 302);
    expect((await listDeliveries(id))[0].error).toContain('redirects are not followed');
    expect(receiver.received.filter((r) => r.path === '/elsewhere')).toEqual([]);
  });

  it('is degraded and attempted rarely if it fails, without delaying others', async () => {
    const dead = await createEndpoint('/dead', ['burst']);
    const well = await createEndpoint('/well', ['burst']);
    await Promise.all(Array.from({ length: 150 }, (_, n) => track(service, `burst${n}@example.com`, 'burst')));
    await waitForDelivered(well.id, 150);
    await until(async () => (await expectOk(service.call('GET', `/webhooks/${dead.id}`))).status === 'DEGRADED');
    expect(receiver.received.filter((r) => r.path === '/dead').length).toBeLessThan(150);
    expect((await listDeliveries(dead.id)).every((d: { status: string }) => d.status === 'PENDING')).toBe(true);
  });

  it('is not found by another project', async () => {
    const { id } = await createEndpoint('/mine', ['mine']);
    const key = service.two.secretKey;
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate-secret'],
      ['GET', '/deliveries'],
    ] as const) {
      const options = method === 'PATCH' ? { key, body: { enabled: false } } : { key };
      expect((await service.call(method, `/webhooks/${id}${path}`, options)).status).toBe(404);
    }
  });
});
