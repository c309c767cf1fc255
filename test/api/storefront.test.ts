import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const GID = 'gid://shopify/ProductVariant/';
const createVariant = (variantId: string | number, change: object = {}) => ({
  variantId,
  productTitle: 'Jumper',
  title: 'Blue, M',
  available: false,
  ...change,
});
const putVariants = (variants: unknown[], key?: string) =>
  api.call('PUT', '/storefront/variants', { body: { variants }, ...(key && { key }) });
const askForNotice = (email: string, storefrontVariantId: unknown, key = api.one.publicKey) =>
  api.call('POST', '/v1/back-in-stock', { key, body: { email, storefrontVariantId } });
const sendPixel = (body: unknown, key = api.one.publicKey) => api.call('POST', '/v1/pixel', { key, body });
const listRestocks = () => api.dispatched.filter((row) => row.kind === 'restock.start');
const findContact = async (email: string) =>
  (await api.call('GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0];

async function listWaiting(variantId: string) {
  const { rows } = await sql<{ email: string }>`
    SELECT c.email FROM back_in_stock_waits w JOIN contacts c ON c.id = w.contact_id
    WHERE w.project_id = ${api.one.id} AND w.variant_id = ${variantId} ORDER BY c.email
  `.execute(api.db);
  return rows.map((row) => row.email);
}

async function listEvents(name: string) {
  const { rows } = await sql<{ contact_id: string | null; data: object }>`
    SELECT contact_id, data FROM events WHERE project_id = ${api.one.id} AND name = ${name} ORDER BY id
  `.execute(api.db);
  return rows;
}

describe('PUT /storefront/variants', () => {
  it('creates and replaces variants, and accepts the number or the global id of a variant', async () => {
    const url = 'https://shop.example.com/jumper';
    const first = await putVariants([createVariant('100', { url }), createVariant(`${GID}101`), createVariant(102)]);
    expect(first).toMatchObject({ status: 200, body: { created: 3, updated: 0, restocked: 0 } });
    expect(first.body.data.map((saved: { variantId: string }) => saved.variantId).sort()).toEqual([
      '100',
      '101',
      '102',
    ]);
    const again = await putVariants([createVariant(`${GID}100`, { title: 'Red' })]);
    expect(again.body).toMatchObject({ created: 0, updated: 1, data: [{ variantId: '100', title: 'Red', url: null }] });
  });

  it('starts a restock job only when a variant becomes available again', async () => {
    await putVariants([createVariant('200', { available: true }), createVariant('201')]);
    expect(listRestocks()).toEqual([]);
    expect(
      (await putVariants([createVariant('200', { available: true }), createVariant('201', { available: true })])).body
        .restocked,
    ).toBe(1);
    await putVariants([createVariant('201', { available: true })]);
    await putVariants([createVariant('201')]);
    await putVariants([createVariant('201', { available: true })]);
    expect(listRestocks().map((row) => row.payload)).toEqual([
      { variantId: '201', restockNo: 1 },
      { variantId: '201', restockNo: 2 },
    ]);
  });

  it('reports a restock once, although many requests report it concurrently', async () => {
    await putVariants([createVariant('210'), createVariant('211')]);
    const before = listRestocks().length;
    const both = [createVariant('210', { available: true }), createVariant('211', { available: true })];
    await Promise.all(Array.from({ length: 8 }, (_, i) => putVariants(i % 2 ? both : both.toReversed())));
    expect(listRestocks().slice(before)).toHaveLength(2);
  });

  it('uses the last of several rows for one variant', async () => {
    const { body } = await putVariants([
      createVariant('220', { title: 'first' }),
      createVariant(`${GID}220`, { title: 'last' }),
    ]);
    expect(body).toMatchObject({ created: 1, data: [{ title: 'last' }] });
  });

  it('accepts 500 variants, and refuses 501 and invalid ones', async () => {
    const createVariants = (n: number) => Array.from({ length: n }, (_, i) => createVariant(String(10_000 + i)));
    expect((await putVariants(createVariants(500))).body.created).toBe(500);
    expect((await putVariants(createVariants(501))).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      statusCode: 422,
    });
    for (const bad of ['red', '0', 'gid://shopify/Product/1', '']) {
      const { status, body } = await putVariants([createVariant(bad)]);
      expect([status, body.error.errors[0].field]).toEqual([422, 'variants.0.variantId']);
    }
    expect((await putVariants([createVariant('1', { url: 'javascript:alert(1)' })])).status).toBe(422);
    expect((await putVariants([createVariant('1', { available: 'yes' })])).status).toBe(422);
    expect((await putVariants([])).status).toBe(422);
  });

  it('keeps the variants of projects separate', async () => {
    await putVariants([createVariant('230')]);
    expect((await putVariants([createVariant('230', { available: true })], api.two.secretKey)).body).toMatchObject({
      created: 1,
      restocked: 0,
    });
  });
});

describe('POST /v1/back-in-stock', () => {
  // All requests in this file come from one address, which may send 20 per minute. Only the rate limit test exceeds 20
  // in project one.
  it('subscribes a contact once to a variant, and creates a new contact unsubscribed', async () => {
    await putVariants([createVariant('300')]);
    expect(await askForNotice('New@Shop.test', `${GID}300`)).toMatchObject({ status: 202, body: { subscribed: true } });
    expect((await askForNotice('new@shop.test', '300')).body).toEqual({ subscribed: true });
    expect(await listWaiting('300')).toEqual(['new@shop.test']);
    expect(await findContact('new@shop.test')).toMatchObject({ subscribed: false, data: {} });
  });

  it('does not change an existing contact', async () => {
    await putVariants([createVariant('301')]);
    await api.call('POST', '/contacts', { body: { email: 'known@shop.test', data: { plan: 'pro' } } });
    await askForNotice('known@shop.test', '301');
    expect(await findContact('known@shop.test')).toMatchObject({ subscribed: true, data: { plan: 'pro' } });
  });

  it('returns false for an available variant, and stores nothing', async () => {
    await putVariants([createVariant('302', { available: true })]);
    expect(await askForNotice('late@shop.test', '302')).toMatchObject({ status: 202, body: { subscribed: false } });
    expect(await listWaiting('302')).toEqual([]);
  });

  it('returns 404 for a variant that the project does not have, and creates no contact', async () => {
    await putVariants([createVariant('303')], api.two.secretKey);
    for (const id of ['303', '999999']) {
      expect(await askForNotice('nobody@shop.test', id)).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND' } },
      });
    }
    expect(await findContact('nobody@shop.test')).toBeUndefined();
  });

  it('returns 400 with the fields of invalid input', async () => {
    for (const [email, id, field] of [
      ['nobody', '300', 'email'],
      ['a@shop.test', 'red', 'storefrontVariantId'],
      ['a@shop.test', 300, 'storefrontVariantId'],
      ['a@shop.test', undefined, 'storefrontVariantId'],
    ] as const) {
      const { status, body } = await askForNotice(email, id);
      expect([status, body.error.code, body.error.errors[0].field]).toEqual([400, 'VALIDATION_ERROR', field]);
    }
  });

  it('accepts 20 requests per minute from a caller, with any key', async () => {
    await putVariants([createVariant('310')], api.two.secretKey);
    const seen = [];
    for (let i = 0; i < 21; i += 1) {
      seen.push(await askForNotice(`p${i}@shop.test`, '310', i % 2 ? api.two.publicKey : api.two.secretKey));
    }
    expect(seen.slice(0, 20).every(({ status }) => status === 202)).toBe(true);
    const refused = seen[20];
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('POST /v1/pixel', () => {
  it('records one event, on the contact whose address is known', async () => {
    const timestamp = '2026-01-02T03:04:05.000Z';
    const body = { name: 'viewed', clientId: 'c1', email: 'Eve@Shop.test', data: { productId: 42 }, timestamp };
    expect(await sendPixel(body)).toMatchObject({ status: 202, body: { accepted: 1 } });
    const contact = await findContact('eve@shop.test');
    expect(contact.subscribed).toBe(false);
    expect(await listEvents('pixel.viewed')).toEqual([
      { contact_id: contact.id, data: { productId: 42, clientId: 'c1', timestamp } },
    ]);
  });

  it('records many events, also without a contact', async () => {
    const events = [
      { name: 'many', clientId: 'c2' },
      { name: 'many', email: 'a@many.test' },
      { name: 'many', email: 'a@many.test' },
    ];
    expect((await sendPixel({ events })).body).toEqual({ accepted: 3 });
    const { id } = await findContact('a@many.test');
    expect((await listEvents('pixel.many')).map((event) => event.contact_id)).toEqual([null, id, id]);
  });

  it('changes nothing about a contact but its history', async () => {
    await api.call('POST', '/contacts', { body: { email: 'kept@shop.test', data: { plan: 'pro' } } });
    await sendPixel({ name: 'kept', email: 'kept@shop.test', data: { plan: 'free', subscribed: true } });
    expect(await findContact('kept@shop.test')).toMatchObject({ subscribed: true, data: { plan: 'pro' } });
  });

  it('records all events of a request or none', async () => {
    const { status, body } = await sendPixel({ events: [{ name: 'half' }, { name: '' }, { name: 'x', email: 'no' }] });
    expect([status, body.error.errors.map((error: { field: string }) => error.field)]).toEqual([
      422,
      ['events.1.name', 'events.2.email'],
    ]);
    expect(await listEvents('pixel.half')).toEqual([]);
  });

  it.each([
    ['an empty body', {}],
    ['no events', { events: [] }],
    ['too many events', { events: Array.from({ length: 101 }, () => ({ name: 'x' })) }],
    ['a name that is too long', { name: 'x'.repeat(250) }],
    ['a name with a line break', { name: 'a\nb' }],
    [
      'data over its limit',
      { name: 'x', data: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, n])) },
    ],
    ['an invalid time', { name: 'x', timestamp: 'yesterday' }],
  ])('refuses %s', async (_, body) => {
    const response = await sendPixel(body);
    expect([response.status, response.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('accepts requests of pages from any origin', async () => {
    const headers = { origin: 'https://shop.example.com', 'access-control-request-method': 'POST' };
    for (const path of ['/v1/pixel', '/v1/back-in-stock']) {
      const preflight = await api.call('OPTIONS', path, { key: null, headers });
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  it('starts an automation whose execution is marked as untrusted', async () => {
    const workflow = (await api.call('POST', '/workflows', { body: { name: 'w', eventName: 'pixel.cart' } })).body;
    const step = { type: 'DELAY', name: 'wait', config: { amount: 1, unit: 'days' } };
    await api.call('POST', `/workflows/${workflow.id}/steps`, { body: step });
    await api.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
    await sendPixel({ name: 'cart', email: 'cart@shop.test' });
    const { rows } = await sql`SELECT untrusted, mode FROM executions WHERE workflow_id = ${workflow.id}`.execute(
      api.db,
    );
    expect(rows).toEqual([{ untrusted: true, mode: 'live' }]);
  });
});
