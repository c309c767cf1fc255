import net, { type AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createDns } from './dns.ts';
import { createWebhookClient } from './webhook-request.ts';

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** Starts a server that responds to each request with these bytes. Returns its address and the requests. */
async function startServer(bytes: string): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      requests.push(data.toString());
      socket.write(bytes);
    });
    closing.push(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, requests };
}

const dns = createDns({ servers: [], cached: false });
const client = createWebhookClient({ allowPrivate: true, dns });
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

it.each([
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['two interim responses', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'],
  ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'],
  ['no interim response', ''],
])('ignores interim responses: %s', async (_, interim) => {
  const { url, requests } = await startServer(interim + OK);
  const result = await client.send({ url, method: 'POST', headers: { 'X-A': 'b' }, body: 'grüße' });
  expect(result).toMatchObject({ outcome: 'answered', statusCode: 200, body: 'ok' });
  expect(requests.join('')).toMatch(/^POST \/hook HTTP\/1\.1\r\n/);
  expect(requests.join('').toLowerCase()).toContain('content-length: 7\r\n');
});

it('fails if the endpoint sends only interim responses', async () => {
  const { url } = await startServer('HTTP/1.1 100 Continue\r\n\r\n');
  const stop = AbortSignal.timeout(300);
  expect(await client.send({ url, method: 'POST', headers: {}, body: 'x' }, stop)).toMatchObject({ outcome: 'failed' });
});

it('fails at once on 101 Switching Protocols, which the request did not ask for', async () => {
  const { url } = await startServer('HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n');
  const result = await client.send({ url, method: 'POST', headers: {}, body: 'x' });
  expect(result).toMatchObject({ outcome: 'failed', error: 'HTTP 101', final: false });
});

it.each([301, 302, 307, 308])(
  'a %i redirect to another origin keeps method, body and Content-Type, but drops other headers of the tenant',
  async (code) => {
    const target = await startServer(OK);
    const redirecting = await startServer(
      `HTTP/1.1 ${code} Moved\r\nLocation: ${target.url}\r\nContent-Length: 0\r\n\r\n`,
    );
    const ownHeaders = { 'content-type': 'application/x-www-form-urlencoded', 'X-Secret': 'hidden' };
    const request = {
      url: redirecting.url,
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      ownHeaders,
    };
    expect(await client.send({ ...request, body: 'a=1' })).toMatchObject({ outcome: 'answered', statusCode: 200 });
    const [received] = target.requests;
    expect(received).toMatch(/^PUT \/hook [\s\S]*\r\n\r\na=1$/);
    expect(received).toMatch(/content-type: application\/x-www-form-urlencoded\r\n/i);
    expect(received).not.toContain('hidden');
  },
);
