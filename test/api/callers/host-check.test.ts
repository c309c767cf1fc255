import { request } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApi, startApi } from '../../../api/http/server.ts';
import { findFreePort } from '../../../cli/start/ports.ts';
import { parseConfig } from '../../../rules/config.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** A host name whose owner has changed its DNS record to 127.0.0.1 (DNS rebinding). */
const REBOUND = 'rebound.evil.example';

let database: TestDatabase;
let running: RunningApi[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(running.map((api) => api.close()));
  running = [];
  await database.drop();
});

async function start(env: Record<string, string> = {}): Promise<number> {
  const config = parseConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: 'the secret key of the tests',
    PORT: '0',
    ...env,
  });
  const api = await startApi(config, { log: pino({ level: 'silent' }) });
  running.push(api);
  return api.port;
}

interface PlainResponse {
  status: number;
  body: string;
}

/** Sends a request as a browser on this machine does for a page of `host`, with additional `headers`. */
function sendRequest(
  port: number,
  host: string,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
) {
  return new Promise<PlainResponse>((resolve, reject) => {
    const headers = { host: host.replace('PORT', String(port)), ...options.headers };
    const sentRequest = request(
      { host: '127.0.0.1', port, path, method: options.method ?? 'GET', headers },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    sentRequest.on('error', reject).end();
  });
}

describe('with a loopback HOST, the service', () => {
  let port: number;
  beforeAll(async () => {
    port = await start();
  });

  it.each(['127.0.0.1:PORT', 'localhost:PORT', 'LOCALHOST:PORT', '[::1]:PORT', 'app.localhost:PORT', '127.0.0.1'])(
    'serves a request to the host %s',
    async (host) => {
      for (const path of ['/mailbox.json', '/health', '/docs']) {
        expect([path, (await sendRequest(port, host, path)).status]).toEqual([path, 200]);
      }
    },
  );

  it.each([
    'rebound.evil.example:PORT',
    REBOUND,
    '127.0.0.1.evil.example:PORT',
    'localhost.evil.example',
    '192.168.1.2:PORT',
  ])('refuses a request to the host %s on every path, and names the variable to set', async (host) => {
    for (const path of ['/mailbox.json', '/mailbox/sms.json', '/health', '/docs', '/openapi.json', '/no-such-path']) {
      const { status, body } = await sendRequest(port, host, path);
      expect([path, status, JSON.parse(body)]).toMatchObject([path, 403, { error: { code: 'FORBIDDEN' } }]);
      expect(JSON.parse(body).error.suggestion).toContain('PUBLIC_URL');
    }
  });

  it('refuses a preflight and a write to another host', async () => {
    const headers = { origin: `http://${REBOUND}`, 'access-control-request-method': 'POST' };
    expect((await sendRequest(port, REBOUND, '/v1/track', { method: 'OPTIONS', headers })).status).toBe(403);
    expect((await sendRequest(port, REBOUND, '/auth/login', { method: 'POST' })).status).toBe(403);
  });

  it('requires a session for the mailbox in requests through a proxy, which may come from anyone', async () => {
    const forwarded: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { forwarded: 'for=203.0.113.7' },
    ];
    for (const headers of forwarded) {
      expect((await sendRequest(port, '127.0.0.1:PORT', '/mailbox.json', { headers })).status).toBe(401);
    }
  });
});

describe('with a loopback HOST behind a proxy, the service', () => {
  it('serves the host of PUBLIC_URL too, and requires a session for the mailbox there', async () => {
    const port = await start({ PUBLIC_URL: 'https://mail.example.com' });
    for (const host of ['mail.example.com', 'MAIL.example.com:443', '127.0.0.1:PORT']) {
      expect([host, (await sendRequest(port, host, '/health')).status]).toEqual([host, 200]);
    }
    expect((await sendRequest(port, 'mail.example.com', '/mailbox.json')).status).toBe(401);
    expect((await sendRequest(port, '127.0.0.1:PORT', '/mailbox.json')).status).toBe(200);
    expect((await sendRequest(port, REBOUND, '/health')).status).toBe(403);
  });
});

describe('with a public HOST, the service', () => {
  it('serves every host name, and requires a session for the mailbox under each', async () => {
    const port = await start({ HOST: '0.0.0.0', ALLOW_CAPTURE: 'true' });
    for (const host of [REBOUND, '127.0.0.1:PORT', 'localhost']) {
      expect([host, (await sendRequest(port, host, '/health')).status]).toEqual([host, 200]);
      expect([host, (await sendRequest(port, host, '/mailbox.json')).status]).toEqual([host, 401]);
    }
  });
});

describe('the metrics endpoint', () => {
  it('is served under loopback names on loopback, and under any name if METRICS_HOST is public', async () => {
    const [closed, opened] = [await findFreePort(), await findFreePort()];
    await start({ METRICS_PORT: String(closed) });
    await start({ METRICS_PORT: String(opened), METRICS_HOST: '0.0.0.0' });
    expect((await sendRequest(closed, 'localhost:PORT', '/metrics')).status).toBe(200);
    expect((await sendRequest(closed, REBOUND, '/metrics')).status).toBe(403);
    expect((await sendRequest(opened, REBOUND, '/metrics')).status).toBe(200);
  });
});
