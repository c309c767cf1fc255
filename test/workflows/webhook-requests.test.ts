import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sealClearUrlSecrets } from '../../db/housekeeping/clear-url-secrets.ts';
import { sealStepConfig } from '../../db/workflows/step-secrets.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: TestService;
/**
 * `named` receives the request of the step. `other` receives redirected requests; it is another origin, because its
 * port differs.
 */
let named: WebhookReceiver;
let other: WebhookReceiver;

beforeAll(async () => {
  service = await startTestService();
  other = await startWebhookReceiver((request, response) =>
    request.path === '/back' ? response.writeHead(307, { location: `${named.url}/end` }).end() : response.end('ok'),
  );
  named = await startWebhookReceiver((request, response) => {
    if (request.path === '/nowhere') return response.writeHead(301).end();
    if (request.path === '/hangs') return response.writeHead(200).write('begun');
    const [, status, to] = /^\/(\d{3})\/(here|there|back)$/.exec(request.path) ?? [];
    if (!status) return response.end('ok');
    const location = { here: '/end', there: `${other.url}/end`, back: `${other.url}/back` }[to ?? ''];
    return response.writeHead(Number(status), { location }).end();
  });
});
afterAll(async () => {
  await service?.close();
  await named?.close();
  await other?.close();
});
beforeEach(() => {
  named.received.length = 0;
  other.received.length = 0;
});

let names = 0;

/** Runs a workflow with this WEBHOOK as its only step, and waits until the workflow ends. */
async function runWebhookStep(config: Record<string, unknown>) {
  names += 1;
  const eventName = `hook-${names}`;
  const workflow = await buildWorkflow(service, { eventName, steps: { hook: { type: 'WEBHOOK', config } } });
  await expectOk(service.call('POST', '/v1/track', { body: { email: 'ada@example.com', event: eventName } }));
  await until(async () => {
    const { data } = await expectOk(service.call('GET', `/workflows/${workflow.id}/executions`));
    return data[0]?.completedAt;
  }, 'the end of the execution');
  return workflow;
}

/** Returns the visits of the workflow's only execution. */
async function listVisits({ id }: { id: string }) {
  const { data } = await expectOk(service.call('GET', `/workflows/${id}/executions`));
  const { steps } = await expectOk(service.call('GET', `/workflows/${id}/executions/${data[0].id}`));
  return steps;
}

const SECRET_HEADERS = { 'X-Api-Key': 'key-of-the-tenant', 'X-Pin': '4711' };
const addPassword = (url: string, userinfo: string) => url.replace('//', `//${userinfo}@`);
const formatBasicAuth = (userinfo: string) => `Basic ${Buffer.from(userinfo).toString('base64')}`;
const saveWebhookStep = (path: string, config: unknown, method = 'POST') =>
  service.call(method, path, { body: { ...(method === 'POST' && { type: 'WEBHOOK' }), config } });
const createWorkflow = async () =>
  (await expectOk(service.call('POST', '/workflows', { body: { name: 'Hooks', eventName: `drawn-${++names}` } }))).id;
async function enableAndEnter(id: string): Promise<void> {
  const { eventName } = await expectOk(service.call('PATCH', `/workflows/${id}`, { body: { enabled: true } }));
  await expectOk(service.call('POST', '/v1/track', { body: { email: 'bob@example.com', event: eventName } }));
}

describe('a WEBHOOK request that is redirected', () => {
  const headers = { 'X-Api-Key': 'secret', Authorization: 'Bearer t', Cookie: 'a=b', 'user-agent': 'crm-token/1' };

  it.each([302, 307, 308])('to another origin by a %i has none of the headers of its step', async (status) => {
    await runWebhookStep({ url: `${addPassword(named.url, 'user:pass')}/${status}/there`, headers });
    expect(named.received[0]?.headers).toMatchObject({ 'x-api-key': 'secret', cookie: 'a=b' });
    const [arrived] = other.received;
    expect(arrived?.headers).toMatchObject({ 'user-agent': 'Tidings/1.0', 'x-execution-id': expect.any(String) });
    expect(Object.keys(arrived?.headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(x-api-key|authorization|cookie)$/)]),
    );
  });

  it('does not get its headers again if another origin redirects it back', async () => {
    await runWebhookStep({ url: `${named.url}/307/back`, headers });
    const [, back] = named.received;
    expect(back?.path).toBe('/end');
    expect(back?.headers['x-api-key']).toBeUndefined();
  });

  it.each([301, 302, 307, 308])('by a %i keeps its method and body', async (status) => {
    await runWebhookStep({ url: `${named.url}/${status}/here`, body: '{"who": "{{email}}"}' });
    expect(named.received[1]).toMatchObject({ method: 'POST', path: '/end', body: '{"who": "ada@example.com"}' });
  });

  it.each(['/303/here', '/nowhere'])('to be fetched with GET, or without a target, is FAILED: %s', async (path) => {
    const [visit] = await listVisits(await runWebhookStep({ url: `${named.url}${path}` }));
    expect(visit).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/^HTTP 30[13]/) });
    expect(named.received).toHaveLength(1);
  });

  it('keeps all headers at the same origin', async () => {
    await runWebhookStep({ url: `${named.url}/307/here`, headers });
    expect(named.received[1]?.headers).toMatchObject({ 'x-api-key': 'secret', 'user-agent': 'crm-token/1' });
  });
});

it('a WEBHOOK step is COMPLETED with the received part if the response stops after its status 200', async () => {
  const [visit] = await listVisits(await runWebhookStep({ url: `${named.url}/hangs` }));
  expect(visit).toMatchObject({ status: 'COMPLETED', output: { statusCode: 200, body: 'begun' } });
});

it('a WEBHOOK step sends its body as a form if the config sets the Content-Type of a form', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await runWebhookStep({ url: `${named.url}/form`, headers, body: { who: '{{email}}' } });
  expect(named.received[0]).toMatchObject({ body: 'who=ada%40example.com' });
});

describe('headers of a WEBHOOK step', () => {
  it.each(['Host', 'host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Expect'])(
    'cannot include %s: saving returns 422 and names the header',
    async (name) => {
      const id = await createWorkflow();
      const response = await saveWebhookStep(`/workflows/${id}/steps`, {
        url: named.url,
        headers: { 'X-A': '1', [name]: 'evil' },
      });
      expect(response.status).toBe(422);
      expect(response.body.error.errors).toEqual([
        expect.objectContaining({ field: `config.headers.${name}`, code: 'custom' }),
      ]);
    },
  );

  it('are omitted if they are forbidden and an earlier release stored them', async () => {
    const id = await createWorkflow();
    const config = { url: named.url, method: 'POST', onFailure: 'CONTINUE' };
    const saved = await expectOk(saveWebhookStep(`/workflows/${id}/steps`, config));
    const stored = sealStepConfig(TEST_SECRET_KEY, {
      ...saved,
      config: { ...config, headers: { Host: 'evil.example', 'X-A': '1' } },
    });
    await sql`UPDATE workflow_steps SET config = ${JSON.stringify(stored)}::jsonb WHERE id = ${saved.id}`.execute(
      service.db,
    );
    await enableAndEnter(id);
    await until(async () => named.received[0], 'the request');
    expect(named.received[0]?.headers).toMatchObject({ host: new URL(named.url).host, 'x-a': '1' });
  });

  it('keep their stored values if masks are sent back, in any case of the name, while the origin stays', async () => {
    const id = await createWorkflow();
    const saved = await expectOk(
      saveWebhookStep(`/workflows/${id}/steps`, { url: `${named.url}/old`, headers: SECRET_HEADERS }),
    );
    expect(saved.config.headers).toEqual({ 'X-Api-Key': 'key-••••', 'X-Pin': '••••' });
    const { 'X-Api-Key': key, ...pin } = saved.config.headers;
    const config = { ...saved.config, url: `${named.url}/new`, headers: { ...pin, 'x-api-key': key } };
    await expectOk(saveWebhookStep(`/workflows/${id}/steps/${saved.id}`, config, 'PATCH'));
    await enableAndEnter(id);
    const request = await until(async () => named.received[0], 'the request');
    expect(request).toMatchObject({ path: '/new', headers: { 'x-api-key': 'key-of-the-tenant', 'x-pin': '4711' } });
  });

  it('are never sent to another host, port or scheme if a mask was sent back, and a mask without a stored value is refused', async () => {
    const id = await createWorkflow();
    const url = 'https://crm.example.com/a';
    const saved = await expectOk(saveWebhookStep(`/workflows/${id}/steps`, { url, headers: SECRET_HEADERS }));
    const path = `/workflows/${id}/steps/${saved.id}`;
    for (const elsewhere of ['https://evil.example/a', 'https://crm.example.com:8443/a', 'http://crm.example.com/a']) {
      const response = await saveWebhookStep(path, { ...saved.config, url: elsewhere }, 'PATCH');
      expect(response.status, elsewhere).toBe(422);
      const { errors } = response.body.error;
      expect(errors.map(({ field }: { field: string }) => field).sort()).toEqual([
        'config.headers.X-Api-Key',
        'config.headers.X-Pin',
      ]);
      expect(errors[0].message).toContain('write the value out');
      const written = { url: elsewhere, headers: { 'X-Api-Key': 'another key of theirs' } };
      expect((await expectOk(saveWebhookStep(path, written, 'PATCH'))).config.headers).toEqual({
        'X-Api-Key': 'anot••••',
      });
      await expectOk(saveWebhookStep(path, { url, headers: SECRET_HEADERS }, 'PATCH'));
    }
    const masked = { url, headers: { 'X-New': 'key-••••' } };
    expect((await saveWebhookStep(path, masked, 'PATCH')).body.error.errors[0].field).toBe('config.headers.X-New');
    expect((await saveWebhookStep(`/workflows/${id}/steps`, masked)).status).toBe(422);
  });

  it("replace the service's headers in any case, except headers that identify the execution", async () => {
    await runWebhookStep({
      url: named.url,
      headers: { 'content-type': 'application/vnd.crm+json', 'idempotency-key': 'mine' },
    });
    expect(named.received[0]?.headers).toMatchObject({
      'content-type': 'application/vnd.crm+json',
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}-\d+$/),
    });
  });
});

describe('a password in the URL of a WEBHOOK step', () => {
  it('reaches the endpoint, and is not shown or stored anywhere else', async () => {
    const workflow = await runWebhookStep({ url: `${addPassword(named.url, 'crm:s3cret%21')}/in` });
    expect(named.received[0]).toMatchObject({
      path: '/in',
      headers: { authorization: formatBasicAuth('crm:s3cret!') },
    });
    const shown = await expectOk(service.call('GET', `/workflows/${workflow.id}`));
    expect(shown.steps[0].config).toEqual({
      url: `${addPassword(named.url, 'crm:***')}/in`,
      method: 'POST',
      onFailure: 'CONTINUE',
    });
    const stored = await sql`SELECT config::text FROM workflow_steps WHERE workflow_id = ${workflow.id}`.execute(
      service.db,
    );
    expect(JSON.stringify(stored.rows)).not.toContain('s3cret');
  });

  it('is kept by a PATCH that sends back the masked URL', async () => {
    const id = await createWorkflow();
    const url = `${addPassword(named.url, 'crm:s3cret')}/kept?team={{plan ?? "a?@b"}}`;
    const saved = await expectOk(saveWebhookStep(`/workflows/${id}/steps`, { url }));
    const path = `/workflows/${id}/steps/${saved.id}`;
    const changed = { ...saved.config, url: saved.config.url.replace('/kept', '/moved') };
    expect((await expectOk(saveWebhookStep(path, changed, 'PATCH'))).config).toEqual(changed);
    await enableAndEnter(id);
    const request = await until(async () => named.received[0], 'the request');
    expect(request).toMatchObject({
      path: '/moved?team=a%3F%40b',
      headers: { authorization: formatBasicAuth('crm:s3cret') },
    });
  });

  it('is never sent to another host, user or scheme if the mask *** was sent back, and *** without a stored password is refused', async () => {
    const id = await createWorkflow();
    const saved = await expectOk(
      saveWebhookStep(`/workflows/${id}/steps`, { url: 'https://crm:pw@crm.example.com/a' }),
    );
    const path = `/workflows/${id}/steps/${saved.id}`;
    for (const url of [
      'https://crm:***@evil.example/a',
      'https://eve:***@crm.example.com/a',
      'http://crm:***@crm.example.com/a',
    ]) {
      const response = await saveWebhookStep(path, { url }, 'PATCH');
      expect(response.status, url).toBe(422);
      expect(response.body.error.errors[0].field).toBe('config.url');
    }
    expect((await saveWebhookStep(`/workflows/${id}/steps`, { url: 'https://crm:***@crm.example.com/a' })).status).toBe(
      422,
    );
  });
});

describe('a password in the URL of a webhook endpoint', () => {
  it('reaches the endpoint, is masked in every response, and encrypted in the database', async () => {
    const url = `${addPassword(named.url, 'hooks:s3cret')}/registry`;
    const masked = `${addPassword(named.url, 'hooks:***')}/registry`;
    const created = await expectOk(service.call('POST', '/webhooks', { body: { url, events: ['ping'] } }));
    const path = `/webhooks/${created.id}`;
    const patched = await expectOk(service.call('PATCH', path, { body: { url: masked, description: 'Ours' } }));
    const rotated = await expectOk(service.call('POST', `${path}/rotate-secret`));
    const { data } = await expectOk(service.call('GET', '/webhooks'));
    for (const record of [created, patched, rotated, data[0], await expectOk(service.call('GET', path))]) {
      expect(record.url).toBe(masked);
    }
    const stored = await sql`SELECT * FROM webhook_endpoints WHERE id = ${created.id}`.execute(service.db);
    expect(JSON.stringify(stored.rows)).not.toContain('s3cret');

    await expectOk(service.call('POST', '/v1/track', { body: { email: 'ada@example.com', event: 'ping' } }));
    const request = await until(async () => named.received.find(({ path: at }) => at === '/registry'), 'the delivery');
    expect(request.headers.authorization).toBe(formatBasicAuth('hooks:s3cret'));
    expect((await service.call('PATCH', path, { body: { url: 'https://hooks:***@evil.example/' } })).status).toBe(422);
  });
});

it('passwords that an earlier release stored in clear text are masked, used, and encrypted by periodic work', async () => {
  const id = await createWorkflow();
  const saved = await expectOk(saveWebhookStep(`/workflows/${id}/steps`, { url: named.url }));
  const created = await expectOk(
    service.call('POST', '/webhooks', { body: { url: `${named.url}/p@th`, events: ['old'] } }),
  );
  const url = addPassword(named.url, 'old:s3cret');
  const config = JSON.stringify({ ...saved.config, url });
  await sql`UPDATE workflow_steps SET config = ${config}::jsonb WHERE id = ${saved.id}`.execute(service.db);
  await sql`UPDATE webhook_endpoints SET url = ${url} WHERE id = ${created.id}`.execute(service.db);
  const readShown = async () => [
    (await expectOk(service.call('GET', `/workflows/${id}`))).steps[0].config.url,
    (await expectOk(service.call('GET', `/webhooks/${created.id}`))).url,
  ];
  const masked = addPassword(named.url, 'old:***');
  expect(await readShown()).toEqual([masked, masked]);

  await sealClearUrlSecrets(service.db, TEST_SECRET_KEY);
  const stored = await sql`
    SELECT config::text FROM workflow_steps WHERE config->>'url' LIKE '%old:%'
    UNION ALL SELECT url FROM webhook_endpoints WHERE id = ${created.id}
  `.execute(service.db);
  expect(stored.rows).toHaveLength(2);
  expect(JSON.stringify(stored.rows)).not.toContain('s3cret');
  expect(await readShown()).toEqual([masked, masked]);
  await enableAndEnter(id);
  await expectOk(service.call('POST', '/v1/track', { body: { email: 'ada@example.com', event: 'old' } }));
  await until(async () => named.received.length >= 2, 'both requests');
  for (const { headers } of named.received) expect(headers.authorization).toBe(formatBasicAuth('old:s3cret'));
});
