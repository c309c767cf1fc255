import { request } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApi, startApi } from '../../api/http/server.ts';
import { parseConfig } from '../../rules/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: RunningApi;
let base: string;

const start = () =>
  startApi(
    parseConfig({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SECRET_KEY: 'the secret key of the tests',
      PORT: '0',
      CORS_ORIGINS: 'https://shop.example',
    }),
    { log: pino({ level: 'silent' }) },
  );

beforeAll(async () => {
  database = await createTestDatabase();
  api = await start();
  base = `http://127.0.0.1:${api.port}`;
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const json = { 'content-type': 'application/json' };

/** Returns the server's response to raw bytes. */
function sendRawBytes(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(api.port, '127.0.0.1', () => socket.end(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text)).on('error', reject);
  });
}

it('the API responds to a health check by HTTP/1.0, which has no Host header', async () => {
  const socket = connectSocket(api.port, '127.0.0.1');
  socket.write('GET /health HTTP/1.0\r\n\r\n');
  let response = '';
  for await (const chunk of socket) response += String(chunk);
  expect(response).toMatch(/^HTTP\/1\.[01] 200 /);
});

describe('the HTTP server', () => {
  it('starts while Temporal is down, and reports that only in the readiness check', async () => {
    expect((await fetch(`${base}/health`)).status).toBe(200);
    const ready = await fetch(`${base}/health/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ error: { details: { unreachable: ['temporal'] } } });
  });

  it('refuses a large body with a JSON error before it is read, with or without Content-Length', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024 + 1);
    const announced = await fetch(`${base}/auth/login`, { method: 'POST', headers: json, body: large });
    expect([announced.status, await announced.json()]).toMatchObject([413, { error: { code: 'PAYLOAD_TOO_LARGE' } }]);
    const body = new Blob([large]).stream();
    const streamed = await fetch(`${base}/auth/login`, {
      method: 'POST',
      headers: json,
      body,
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  it('accepts a chunked body', async () => {
    const body = new Blob(['{"email":"a@example.com","password":"x"}']).stream();
    const response = await fetch(`${base}/auth/login`, {
      method: 'POST',
      headers: json,
      body,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(401);
  });

  it('responds to HEAD with the status of a GET and no body, and to OPTIONS of a known path with its methods', async () => {
    const head = await fetch(`${base}/health`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('returns the names of the ignored fields in a header, if a GET has a body', async () => {
    const lines = ['GET /health HTTP/1.1', 'Host: localhost', 'Connection: close', 'Content-Type: application/json'];
    const socket = connectSocket(api.port, '127.0.0.1');
    socket.write([...lines, 'Content-Length: 11', '', '{"limit":1}'].join('\r\n'));
    let response = '';
    for await (const chunk of socket) response += String(chunk);
    expect(response).toMatch(/^HTTP\/1.1 200 .*x-ignored-fields: limit/is);
  });

  it('returns a JSON error for invalid HTTP', async () => {
    expect(await sendRawBytes('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"code":"BAD_REQUEST"/s);
    expect(await sendRawBytes(`GET /health HTTP/1.1\r\nHost: x\r\nBig: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 .*"suggestion":"Shorten the URL and the headers to 16 KB together."/s,
    );
    const backslash = await sendRawBytes('GET /a\\b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(backslash).toMatch(/^HTTP\/1.1 400 .*"code":"BAD_REQUEST"/s);
  });

  it('allows the origins of CORS_ORIGINS, and any origin on the endpoints of the public key', async () => {
    const sendPreflight = (path: string, origin: string) =>
      fetch(`${base}${path}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      });
    const shop = await sendPreflight('/contacts', 'https://shop.example');
    expect([shop.status, shop.headers.get('access-control-allow-origin')]).toEqual([204, 'https://shop.example']);
    expect(
      (await sendPreflight('/contacts', 'https://evil.example')).headers.get('access-control-allow-origin'),
    ).toBeNull();
    const anyone = await sendPreflight('/v1/track', 'https://evil.example');
    expect(anyone.headers.get('access-control-allow-origin')).toBe('*');
    expect(anyone.headers.get('access-control-allow-headers')).toContain('Authorization');
  });

  it('finishes running requests when it stops, and then closes idle connections', async () => {
    const other = await start();
    const pending = new Promise<number>((resolve, reject) => {
      const sentRequest = request(
        { port: other.port, path: '/auth/login', method: 'POST', headers: { ...json, 'content-length': 41 } },
        (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)),
      ).on('error', reject);
      sentRequest.write('{"email":"a@example.com",');
      setTimeout(() => sentRequest.end('"password":"x" }'), 300);
    });
    // The request is running once the server has read its header fields.
    await expect
      .poll(() => fetch(`http://127.0.0.1:${other.port}/health`).then((response) => response.status))
      .toBe(200);
    const closing = other.close();
    expect(await pending).toBe(401);
    await closing;
    await expect(fetch(`http://127.0.0.1:${other.port}/health`)).rejects.toThrow();
  });
});
