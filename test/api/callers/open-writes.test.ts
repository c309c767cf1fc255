import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CERTIFICATE_FETCHES, TRACKED_HITS } from '../../../api/http/caller-limits.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { listOperations } from '../../support/operations.ts';

/** More than any limit per minute except the limit of tracked emails. */
const MANY = 1_000;
let api: TestApi;
let callers = 0;
beforeAll(async () => {
  api = await startTestApi({ SNS_TOPIC_ARNS: 'arn:aws:sns:eu-west-1:123456789012:ses' });
});
afterAll(() => api.close());

const createAddress = () => {
  callers += 1;
  return `203.0.${callers >> 8}.${callers & 255}`;
};

/** Sends a request without credentials from this address. */
async function sendRequest(method: string, path: string, from: string, body = '{}') {
  const init = { method, ...(method !== 'GET' && { headers: { 'content-type': 'application/json' }, body }) };
  // The form in which the HTTP server passes the client's address to the application.
  const incoming = Object.assign(Readable.from([Buffer.from(body)]), { socket: { remoteAddress: from } });
  const response = await api.app.request(path.replaceAll(/[:{]\w+}?/g, 'x'), init, { incoming });
  return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) };
}

/** Lists every registered route that accepts writes without credentials. */
function listOpenWrites(): string[] {
  const closed = new Set(
    listOperations(api.app)
      .filter(({ security }) => security.length > 0)
      .map(({ method, path }) => `${method} ${path.replaceAll(/\{(.+?)\}/g, ':$1')}`),
  );
  const routes = api.app.routes.filter(({ method, path }) => !['GET', 'ALL'].includes(method) && path !== '/*');
  return [...new Set(routes.map(({ method, path }) => `${method} ${path}`))]
    .filter((route) => !closed.has(route))
    .sort();
}

/** Token with any characters, including line breaks that an email client appends. */
const TOKEN = String.raw`token{[\s\S]+}`;

describe('an operation that writes without credentials', () => {
  it('is in the list of this test', () => {
    expect(listOpenWrites()).toEqual([
      ...[
        'POST /auth/invitations/accept',
        'POST /auth/invitations/look',
        'POST /auth/login',
        'POST /auth/signup',
        // Email programs cut off long links. The cut link must still open a page with a form, so its path accepts POST.
        ...['/confirm', '/m', '/s', '/u'].flatMap((page) =>
          [page, `${page}/`, `${page}/:${TOKEN}`].map((path) => `POST ${path}`),
        ),
      ],
      ...['POST /webhooks/sns', 'POST /webhooks/twilio/inbound', 'POST /webhooks/twilio/status'],
    ]);
  });

  it('has a limit for each address: beyond it, requests return 429 for the rest of the minute, while other addresses are served', async () => {
    for (const route of listOpenWrites()) {
      const [method = '', path = ''] = route.split(' ');
      const [caller, otherCaller] = [createAddress(), createAddress()];
      let served = 0;
      let response = await sendRequest(method, path, caller);
      while (response.status !== 429 && served < MANY) {
        served += 1;
        response = await sendRequest(method, path, caller);
      }
      expect([route, response.status, response.retryAfter > 0 && response.retryAfter <= 60]).toEqual([
        route,
        429,
        true,
      ]);
      expect([route, served]).toEqual([route, path.startsWith('/webhooks/') ? 100 : 600]);
      expect([route, (await sendRequest(method, path, otherCaller)).status]).not.toEqual([route, 429]);
    }
  });

  it('counts all addresses of an IPv6 /64 network as one', async () => {
    for (let n = 0; n < 600; n += 1) await sendRequest('POST', '/auth/login', `2001:db8:7:7::${n.toString(16)}`);
    expect((await sendRequest('POST', '/auth/login', '2001:db8:7:7:ffff::1')).status).toBe(429);
    expect((await sendRequest('POST', '/auth/login', '2001:db8:7:8::1')).status).toBe(422);
  });
});

describe('opens and clicks of tracked emails', () => {
  it('have a limit that the image proxies of mailbox providers do not reach', async () => {
    const [caller, otherCaller] = [createAddress(), createAddress()];
    for (let n = 0; n < 60_000; n += 1) api.deps.limits.takeForUnauthenticated(caller, TRACKED_HITS);
    for (const path of ['/o/x.gif', '/c/x/0']) {
      expect([path, (await sendRequest('GET', path, caller)).status]).toEqual([path, 429]);
      expect([path, (await sendRequest('GET', path, otherCaller)).status]).toEqual([path, 404]);
    }
    expect((await sendRequest('POST', '/auth/login', caller)).status).toBe(422);
  });
});

it('an unauthenticated caller can make the service fetch only a few certificates', async () => {
  const caller = createAddress();
  for (let n = 0; n < 10; n += 1) api.deps.limits.takeForUnauthenticated(caller, CERTIFICATE_FETCHES);
  const message = {
    Type: 'Notification',
    MessageId: 'x',
    TopicArn: 'arn:aws:sns:eu-west-1:123456789012:ses',
    Message: 'x',
    Timestamp: new Date().toISOString(),
    SignatureVersion: '1',
    Signature: 'eA==',
    SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem',
  };
  expect((await sendRequest('POST', '/webhooks/sns', caller, JSON.stringify(message))).status).toBe(429);
});
