import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOpenApiDocument } from '../../api/openapi/document.ts';
import { packageRoot } from '../../cli/package-root.ts';
import { generate, type OpenApiDocument } from '../../packages/client/generate.ts';
import {
  Tidings,
  TidingsConnectionError,
  TidingsError,
  verifyWebhook,
  WebhookVerificationError,
} from '../../packages/client/src/index.ts';
import { OPERATIONS } from '../../packages/client/src/operations.generated.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const PACKAGE = join(packageRoot(), 'packages', 'client');

/** How a request fails: the service never receives it, or the response is lost. */
type Trouble = 'refused' | 'unavailable' | 'response lost';

let api: TestApi;
let server: Server;
let baseUrl: string;
let client: Tidings;
let troubles: Trouble[] = [];
let keys: (string | null)[] = [];

beforeAll(async () => {
  api = await startTestApi({ EMAIL_PROVIDER: 'capture' });
  const listener = getRequestListener(async (request) => {
    keys.push(request.headers.get('idempotency-key'));
    if (troubles.shift() === 'unavailable') return new Response('Bad gateway', { status: 502 });
    return api.app.fetch(request);
  });
  server = createServer((request, response) => {
    const [trouble] = troubles;
    if (trouble === 'response lost') response.end = () => response.destroy() as never;
    if (trouble !== 'refused') return void listener(request, response);
    troubles.shift();
    response.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  client = new Tidings({ baseUrl, key: api.one.secretKey });
});
afterEach(() => {
  troubles = [];
  keys = [];
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await api.close();
});

const listEvents = async (eventName: string) => (await client.call('listEvents', { query: { eventName } })).events;
const catchError = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a call of the client', () => {
  it('returns the response of any operation, with path, query and body', async () => {
    const created = await client.call('createTemplate', {
      body: { name: 'Hello', subject: 's', body: '<p>b</p>', type: 'MARKETING' },
    });
    expect(created.slug).toBe('hello');
    const got = await client.call('getTemplate', { params: { id: created.id } });
    expect(got).toEqual(created);
    expect((await client.call('listTemplates', { query: { search: 'Hello' } })).total).toBe(1);
    expect(await client.call('deleteTemplate', { params: { id: created.id } })).toBeUndefined();
  });

  it("throws an error with the service's code, request id, rate limit and fields", async () => {
    const limited = await startTestApi({ RATE_LIMIT_PER_MINUTE: '100' });
    const fetch: typeof globalThis.fetch = async (url, init) => limited.app.request(String(url), init);
    const one = new Tidings({ baseUrl: 'http://tidings.test', key: limited.one.secretKey, fetch });
    const error = await catchError(
      one.call('createTemplate', { body: { name: '', subject: 's', body: 'b', type: 'MARKETING' } }),
    );
    expect(error).toBeInstanceOf(TidingsError);
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 422,
      requestId: expect.stringMatching(/.+/),
      rateLimit: { limit: 100, remaining: 99, resetSeconds: expect.any(Number) },
      errors: [{ field: 'name' }],
    });
    await limited.close();
  });

  it('is not retried without an idempotency key made by the client', async () => {
    troubles = ['unavailable'];
    expect(await catchError(client.call('listTemplates'))).toMatchObject({ status: 502, code: 'UNKNOWN' });
    troubles = ['unavailable'];
    expect(
      await catchError(client.track({ email: 'a@example.com', event: 'e' }, { idempotencyKey: 'mine' })),
    ).toBeInstanceOf(TidingsError);
    troubles = ['refused'];
    expect(await catchError(client.call('listTemplates'))).toBeInstanceOf(TidingsConnectionError);
    expect(keys).toEqual([null, 'mine']);
  });

  it('ends when its AbortSignal aborts', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    expect(await catchError(client.track({ email: 'a@example.com', event: 'e' }, { signal }))).toMatchObject({
      message: 'enough',
    });
  });
});

describe('a call with an idempotency key made by the client', () => {
  it('is retried with the same key, and takes effect once', async () => {
    troubles = ['unavailable', 'refused'];
    await client.track({ email: 'ada@example.com', event: 'bought' });
    expect(await listEvents('bought')).toHaveLength(1);
    const sentKeys = keys.slice(0, 2);
    expect(sentKeys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(sentKeys[1]).toBe(sentKeys[0]);
  });

  it('returns a response that was lost, without a second effect', async () => {
    troubles = ['response lost'];
    const response = await client.track({ email: 'ada@example.com', event: 'lost' });
    const [event, ...more] = await listEvents('lost');
    expect(more).toEqual([]);
    expect(response.data.event).toBe(event?.id);
  });

  it('waits at most 30 s before each retry', async () => {
    const delays: number[] = [];
    const timer = vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms) => {
      delays.push(ms ?? 0);
      queueMicrotask(callback);
      return {} as NodeJS.Timeout;
    });
    const refusing = new Tidings({
      baseUrl,
      key: 'sk_x',
      retries: 12,
      fetch: () => Promise.reject(new Error('no connection')),
    });
    const error = await catchError(refusing.track({ email: 'ada@example.com', event: 'x' }));
    timer.mockRestore();
    expect(error).toBeInstanceOf(TidingsConnectionError);
    expect(delays).toHaveLength(12);
    expect(Math.max(...delays)).toBeLessThanOrEqual(30_000);
  });

  it('is not retried after a refusal by the service', async () => {
    await catchError(client.track({ email: 'no address', event: 'x' }));
    expect(keys).toHaveLength(1);
  });
});

it('iterating over a list follows nextCursor, and ends if it is null or missing', async () => {
  const pages = [{ data: [1], nextCursor: 'b' }, { data: [2], nextCursor: null }, { data: [3] }];
  const queries: string[] = [];
  const fetch = async (url: unknown) => {
    queries.push(new URL(String(url)).search);
    return Response.json(pages[queries.length - 1] ?? { data: [] });
  };
  const javascript = new Tidings({ baseUrl, key: 'sk_test_x', fetch: fetch as typeof globalThis.fetch });
  for await (const _ of javascript.pages('listEvents')) if (queries.length > 3) break;
  expect(queries).toEqual(['', '?cursor=b']);
  for await (const _ of javascript.pages('listEvents')) if (queries.length > 4) break;
  expect(queries).toHaveLength(3);
});

it('an unknown operation id is refused, and the error names it', async () => {
  await expect(client.call('sendEmailV9' as 'sendEmail', {} as never)).rejects.toThrow(
    /Unknown operation "sendEmailV9"/,
  );
});

it('lists are iterated over all pages', async () => {
  for (let i = 0; i < 7; i += 1) await client.track({ email: 'ada@example.com', event: 'paged', data: { i } });
  const seen: unknown[] = [];
  for await (const event of client.each('listEvents', { query: { eventName: 'paged', limit: 3 } }))
    seen.push(event.data);
  expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((i) => ({ i })));
  let pages = 0;
  for await (const _ of client.pages('listEvents', { query: { eventName: 'paged', limit: 3 } })) pages += 1;
  expect(pages).toBe(3);
});

describe('verifying a webhook', () => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ....').toString('base64')}`;
  const now = new Date('2026-11-22T12:00:00Z');
  const payload = JSON.stringify({ type: 'email.bounced', data: { ä: 1 } });
  const signature = new Webhook(secret).sign('msg_1', now, payload);
  const headers = {
    'Webhook-Id': 'msg_1',
    'webhook-timestamp': String(now.getTime() / 1_000),
    'webhook-signature': signature,
  };

  it('accepts it if one of its signatures was made with the secret', async () => {
    const expected = JSON.parse(payload);
    expect(await verifyWebhook({ payload, headers, secret, now })).toEqual(expected);
    const both = { ...headers, 'webhook-signature': `v1,AAAA v2,x ${signature}` };
    expect(await verifyWebhook({ payload: Buffer.from(payload), headers: new Headers(both), secret, now })).toEqual(
      expected,
    );
  });

  it.each([
    ['with a changed body', { payload: `${payload} ` }],
    ['signed with another secret', { secret: `whsec_${Buffer.from('another').toString('base64')}` }],
    ['without a secret', { secret: '' }],
    ['that is too old', { now: new Date(now.getTime() + 301_000) }],
    ['from the future', { now: new Date(now.getTime() - 301_000) }],
    ['without a signature', { headers: { ...headers, 'webhook-signature': undefined } }],
    ['with an invalid time', { headers: { ...headers, 'webhook-timestamp': 'soon' } }],
    ['with another id', { headers: { ...headers, 'Webhook-Id': 'msg_2' } }],
  ])('refuses one %s', async (_, change) => {
    const error = await catchError(verifyWebhook({ payload, headers, secret, now, ...change }));
    expect(error).toBeInstanceOf(WebhookVerificationError);
  });
});

describe('the client package', () => {
  it('has types that match the document (npm run client:types)', () => {
    const document = JSON.parse(JSON.stringify(createOpenApiDocument(api.app))) as OpenApiDocument;
    const committed = readFileSync(join(PACKAGE, 'src', 'operations.generated.ts'), 'utf8');
    // Compares the strings directly, because a diff of two thousand lines would take minutes.
    expect(generate(document) === committed, 'run npm run client:types').toBe(true);
  });

  it('has every operation of the document of /v1 alone, and none at a path without version', () => {
    const { paths } = JSON.parse(JSON.stringify(createOpenApiDocument(api.app, 'v1'))) as OpenApiDocument;
    const versioned = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => `${operationId}: ${method.toUpperCase()} ${path}`),
    );
    const called = Object.entries(OPERATIONS).map(([id, { method, path }]) => `${id}: ${method} ${path}`);
    expect(called.filter((one) => one.includes(' /v1/')).sort()).toEqual(versioned.sort());
    const byPath = new Set(versioned.map((one) => one.replace(/^.*?: /, '')));
    expect(called.filter((one) => byPath.has(one.replace(/^.*?: (\S+) /, '$1 /v1')))).toEqual([]);
  });

  it('is packed with code, types and readme, without dependencies, and runs after unpacking', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tidings-client-'));
    const runCommand = (command: string, ...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(command, words, { cwd: folder, encoding: 'utf8' });
      expect(status, stderr + stdout).toBe(0);
      return stdout;
    };
    // npm may be configured to run no scripts, including `prepack`.
    runCommand(process.execPath, join(PACKAGE, 'build.mjs'));
    runCommand('npm', 'pack', PACKAGE, '--pack-destination', folder);
    runCommand('tar', '-xzf', 'tidings-client-0.1.0.tgz');
    const manifest = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    expect(readFileSync(join(folder, 'package', 'LICENSE'), 'utf8')).toMatch(/MIT/);
    expect(readFileSync(join(folder, 'package', 'README.md'), 'utf8')).toMatch(/@tidings\/client/);
    expect(readFileSync(join(folder, 'package', manifest.exports['.'].types.slice(2)), 'utf8')).toMatch(/Tidings/);
    const code = "import('./package/dist/index.js').then((m) => console.log(Object.keys(m).sort().join(' ')))";
    expect(runCommand(process.execPath, '-e', code).trim()).toBe(
      'Tidings TidingsConnectionError TidingsError WebhookVerificationError verifyWebhook',
    );
    rmSync(folder, { recursive: true });
  });
});
