import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AppEnv } from '../../api/http/env.ts';
import { createErrorHandler, respondWithError } from '../../api/http/error-handler.ts';
import { IdempotencyHeader, readIdempotencyKey } from '../../api/http/idempotency-key.ts';
import { atBothPaths, createRegistrar } from '../../api/http/registrar.ts';
import { jsonBody, jsonResponse } from '../../api/http/responses.ts';
import { createRouteTable } from '../../api/http/route-table.ts';
import { cursorQuery, EmailAddress, IdParams, InstantInput } from '../../api/http/schemas.ts';
import { allowPublicKey, allowScopes } from '../../api/http/security.ts';
import { AppError } from '../../rules/errors.ts';
import { buildApiKey, startTestApi, type TestApi } from '../support/api.ts';

const Echo = z.object({ got: z.unknown(), mode: z.string() });
const Body = z.object({
  email: EmailAddress,
  kind: z.enum(['A', 'B']).optional(),
  to: z.union([EmailAddress, z.object({ email: EmailAddress }), z.array(EmailAddress)]).optional(),
  nested: z.object({ name: z.string().min(2) }).optional(),
  at: InstantInput.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

const base = { summary: 'echo', responses: { 200: jsonResponse(Echo) } } as const;
const echoBody = createRoute({
  ...base,
  method: 'post',
  path: '/echo/{id}',
  security: allowScopes('contacts:edit'),
  request: { params: IdParams, body: jsonBody(Body) },
});
const echoOld = createRoute({
  ...base,
  method: 'post',
  path: '/old',
  invalid: 400 as const,
  security: allowPublicKey(),
  request: { query: cursorQuery(20), headers: IdempotencyHeader, body: jsonBody(Body, { optional: true }) },
});
const echoQuery = createRoute({
  ...base,
  method: 'get',
  path: '/echo',
  security: allowScopes('contacts:view'),
  request: { query: cursorQuery(20) },
});
const fail = createRoute({ ...base, method: 'get', path: '/fail', security: [] });

const ID = '0190a000-0000-7000-8000-000000000000';
const EMAIL = 'ada@example.com';

let api: TestApi;
let app: OpenAPIHono<AppEnv>;
beforeAll(async () => {
  api = await startTestApi();
  app = new OpenAPIHono<AppEnv>();
  const table = createRouteTable();
  app.use(async (c, next) => {
    c.set('requestId', 'test');
    await next();
  });
  app.onError(createErrorHandler(api.deps.log, table));
  app.notFound((c) => respondWithError(c, new AppError('NOT_FOUND')));
  const registrar = createRegistrar(app, table, api.deps, atBothPaths);
  registrar.openapi(echoBody, (c) => c.json({ got: c.req.valid('json'), mode: c.var.mode }, 200));
  registrar.openapi(echoOld, (c) => c.json({ got: readIdempotencyKey(c) ?? null, mode: c.var.mode }, 200));
  registrar.openapi(echoQuery, (c) => c.json({ got: c.req.valid('query'), mode: c.var.mode }, 200));
  registrar.openapi(fail, () => {
    throw Object.assign(new Error('relation "secret_table" of ada@example.com'), { code: '42P01' });
  });
});
afterAll(() => api.close());

interface Options {
  key?: string;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  headers?: Record<string, string>;
}
async function send(method: string, path: string, { key = api.one.secretKey, body, headers }: Options = {}) {
  const response = await app.request(path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body, duplex: 'half' }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null };
}
const post = (value: unknown, path = `/echo/${ID}`) => send('POST', path, { body: JSON.stringify(value) });
const toStatusAndCode = (response: { status: number; body: { error: { code: string } } }) => [
  response.status,
  response.body.error.code,
];

describe('every response', () => {
  it('has the request id of the caller, or a new one', async () => {
    const own = await api.call('GET', '/health', { headers: { 'x-request-id': 'mine-1' } });
    expect(own.headers.get('x-request-id')).toBe('mine-1');
    const made = await api.call('GET', '/nowhere', { headers: { 'x-request-id': 'x'.repeat(129) } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.body.error.requestId).toBe(made.headers.get('x-request-id'));
    expect(made.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('distinguishes an unknown path from a wrong method', async () => {
    expect((await api.call('GET', '/nowhere')).body.error.code).toBe('NOT_FOUND');
    const wrong = await api.call('DELETE', '/health');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(wrong.body.error.code).toBe('METHOD_NOT_ALLOWED');
  });

  it('is never cached if it is about a project', async () => {
    expect((await send('GET', '/echo')).headers.get('cache-control')).toBe('no-store');
  });

  it('is a 500 without details if the error is unexpected', async () => {
    const response = await send('GET', '/fail');
    expect(toStatusAndCode(response)).toEqual([500, 'INTERNAL_SERVER_ERROR']);
    expect(JSON.stringify(response.body)).not.toMatch(/secret_table|ada@|at /);
  });
});

describe('a request body', () => {
  it('reaches the handler trimmed and typed, at the path with and without version', async () => {
    const got = await post({ email: ' ADA@example.com', at: '2026-01-02' });
    expect(got.body).toEqual({ got: { email: EMAIL, at: '2026-01-02T00:00:00.000Z' }, mode: 'live' });
    expect((await post({ email: EMAIL }, `/v1/echo/${ID}`)).status).toBe(200);
  });

  it('returns 400 if it is not JSON, and 415 if it has another type', async () => {
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, { body: '{"email":' }))).toEqual([400, 'BAD_REQUEST']);
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, { body: '' }))).toEqual([400, 'BAD_REQUEST']);
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, { body: Buffer.from([0x22, 0xff, 0x22]) }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
    const text = { body: '{}', headers: { 'content-type': 'text/plain' } };
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, text))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const zipped = { body: '{}', headers: { 'content-encoding': 'gzip' } };
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, zipped))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('returns 422 if it has errors, and names each by its dotted path and a code of zod 3', async () => {
    const response = await post({ kind: 'C', to: ['no'], nested: { name: 'x' }, at: 'soon' });
    expect(toStatusAndCode(response)).toEqual([422, 'VALIDATION_ERROR']);
    const faults = response.body.error.errors.map((fault: { field: string; code: string }) => [
      fault.field,
      fault.code,
    ]);
    expect(faults).toEqual([
      ['email', 'invalid_type'],
      ['kind', 'invalid_enum_value'],
      ['to.0', 'invalid_string'],
      ['nested.name', 'too_small'],
      ['at', expect.any(String)],
    ]);
    expect(toStatusAndCode(await post([]))).toEqual([422, 'VALIDATION_ERROR']);
    expect(toStatusAndCode(await post(null))).toEqual([422, 'VALIDATION_ERROR']);
    expect((await post({ email: 7, to: 'nobody' })).body.error.errors).toEqual([
      expect.objectContaining({ field: 'email', code: 'invalid_type' }),
      expect.objectContaining({ field: 'to', code: 'invalid_string' }),
    ]);
  });

  it('returns 400 with its errors where the contract says so, also if it is omitted', async () => {
    expect((await send('POST', '/old', { key: api.one.publicKey })).status).toBe(400);
    expect(toStatusAndCode(await post({ email: 'no' }, '/old'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(toStatusAndCode(await post({ email: EMAIL }, '/old?limit=x'))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('is refused if any field has NUL characters, broken Unicode or deep nesting', async () => {
    const bad = [{ email: 'a\0@b.c' }, { email: EMAIL, data: { deep: ['x\0'] } }, { email: EMAIL, data: { 'a\0': 1 } }];
    for (const body of bad) expect(toStatusAndCode(await post(body))).toEqual([422, 'VALIDATION_ERROR']);
    const lone = { body: `{"email":"${EMAIL}","data":{"a":"\\ud800"}}` };
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, lone))).toEqual([422, 'VALIDATION_ERROR']);
    const deep = { body: `{"email":"${EMAIL}","data":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}` };
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, deep))).toEqual([422, 'VALIDATION_ERROR']);
  });

  it('has its unknown fields named in a header of the response, except fields of free-form data', async () => {
    const response = await post({ email: EMAIL, emial: 1, nested: { name: 'ok', x: 1 }, data: { any: 1 }, 'ü,': 1 });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ignored-fields')).toBe('emial, nested.x, %C3%BC%2C');
    expect((await post({ email: EMAIL })).headers.get('x-ignored-fields')).toBeNull();
  });

  it('returns 413 over 3 MB, announced or streamed', async () => {
    const large = JSON.stringify({ email: EMAIL, data: { a: 'x'.repeat(3 * 1024 * 1024) } });
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, { body: large }))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(toStatusAndCode(await send('POST', `/echo/${ID}`, { body: new Blob([large]).stream() }))).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
    ]);
  });
});

describe('path and query', () => {
  it('return 404 for a malformed id, and 400 for a wrong query value', async () => {
    expect(toStatusAndCode(await post({ email: EMAIL }, '/echo/17'))).toEqual([404, 'NOT_FOUND']);
    expect(toStatusAndCode(await post({ email: EMAIL }, '/echo/%00'))).toEqual([404, 'NOT_FOUND']);
    for (const query of ['limit=0', 'limit=101', 'limit=', 'limit=1e1', 'limit=1&limit=2', 'cursor=a%00']) {
      expect(toStatusAndCode(await send('GET', `/echo?${query}`)), query).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect((await send('GET', '/echo?limit=100')).body.got).toEqual({ limit: 100 });
  });
});

describe('credentials', () => {
  it('return UNAUTHORIZED if missing, INVALID_API_KEY if wrong or of another kind, FORBIDDEN with the missing scope', async () => {
    expect(toStatusAndCode(await send('GET', '/echo', { headers: { authorization: '' } }))).toEqual([
      401,
      'UNAUTHORIZED',
    ]);
    expect(toStatusAndCode(await send('GET', '/echo', { key: 'sk_live_nonsense' }))).toEqual([401, 'INVALID_API_KEY']);
    expect(toStatusAndCode(await send('GET', '/echo', { headers: { authorization: 'Basic eDp5' } }))).toEqual([
      401,
      'INVALID_API_KEY',
    ]);
    expect(toStatusAndCode(await send('GET', '/echo', { key: api.one.publicKey }))).toEqual([401, 'INVALID_API_KEY']);
    const key = await buildApiKey(api.db, api.one.id, ['contacts:edit']);
    const refused = await send('GET', '/echo', { key });
    expect(toStatusAndCode(refused)).toEqual([403, 'FORBIDDEN']);
    expect(refused.body.error.details).toEqual({ requiredScope: 'contacts:view' });
  });

  it('determine the mode: test for a test key, live for another secret key', async () => {
    expect((await send('GET', '/echo', { key: api.one.testKey })).body.mode).toBe('test');
    expect((await send('GET', '/echo')).body.mode).toBe('live');
  });

  it('allow only reads once the project is disabled', async () => {
    await send('GET', '/echo', { key: api.two.secretKey });
    await api.db.updateTable('projects').set({ disabled_at: new Date() }).where('id', '=', api.two.id).execute();
    const sendWrite = () =>
      send('POST', `/echo/${ID}`, { key: api.two.secretKey, body: JSON.stringify({ email: EMAIL }) });
    await expect.poll(async () => (await sendWrite()).status, { interval: 5 }).toBe(403);
    expect((await sendWrite()).body.error.code).toBe('PROJECT_DISABLED');
    expect((await send('GET', '/echo', { key: api.two.secretKey })).status).toBe(200);
  });
});

describe('Idempotency-Key', () => {
  it('accepts 1-255 printable ASCII characters', async () => {
    const sendOldRequest = (key: string) =>
      send('POST', '/old', { body: JSON.stringify({ email: EMAIL }), headers: { 'idempotency-key': key } });
    expect((await sendOldRequest('k'.repeat(255))).body.got).toHaveLength(255);
    expect(toStatusAndCode(await sendOldRequest('k'.repeat(256)))).toEqual([400, 'BAD_REQUEST']);
    expect(toStatusAndCode(await sendOldRequest(''))).toEqual([400, 'BAD_REQUEST']);
    expect(toStatusAndCode(await sendOldRequest('é'))).toEqual([400, 'BAD_REQUEST']);
  });
});
