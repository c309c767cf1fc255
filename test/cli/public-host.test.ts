import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../cli/start/ports.ts';
import { type CallOptions, callHttp } from '../support/http.ts';
import {
  createHomePath,
  removeHome,
  type StartedService,
  startAndWaitForExit,
  startService,
  waitForCondition,
} from '../support/start.ts';

/** The state of a listening socket in /proc/net/tcp. */
const LISTEN = '0A';
const MAILBOX_PATHS = ['/mailbox', '/mailbox.json', '/mailbox/sms', '/mailbox/sms.json'];

/** Calls a service as an unknown caller on another machine does, or with additional `headers`. */
const call = (service: StartedService, method: string, path: string, options: CallOptions = {}) =>
  callHttp(service.dev().baseUrl, method, path, options);

const createKeyHeader = (service: StartedService) => ({ authorization: `Bearer ${service.dev().secretKey}` });

/** Signs in or up. Returns the header with the session. */
async function signIn(service: StartedService, path: string, body: unknown): Promise<Record<string, string>> {
  const { status, headers } = await call(service, 'POST', path, { body });
  expect(status).toBeLessThan(300);
  return { cookie: (headers.getSetCookie()[0] ?? '').split(';')[0] ?? '' };
}

describe('a service on a public HOST with ALLOW_CAPTURE', () => {
  const home = createHomePath();
  let service: StartedService;
  let owner: Record<string, string>;
  let otherUser: Record<string, string>;
  beforeAll(async () => {
    const env = { HOST: '0.0.0.0', ALLOW_CAPTURE: 'true', SMS_PROVIDER: 'capture', SIGNUP: 'on' };
    service = await startService({ home, env });
    owner = await signIn(service, '/auth/login', service.dev().owner);
    const account = { email: 'eve@other.example', password: 'a long password', projectName: 'Other' };
    otherUser = await signIn(service, '/auth/signup', account);
    const email = { to: 'ada@example.com', from: 'hello@tidings.test', subject: 'For Ada', body: '<p>Hello</p>' };
    await call(service, 'POST', '/v1/send', { headers: createKeyHeader(service), body: email });
    const sms = { to: '+4915112345678', body: 'Your code is 934711' };
    await call(service, 'POST', '/v1/sms/send', { headers: createKeyHeader(service), body: sms });
  });
  afterAll(async () => {
    service?.signal('SIGTERM');
    await service?.exited;
    await removeHome(home);
  });

  it('shows captured messages only with a session', async () => {
    for (const path of MAILBOX_PATHS) {
      const { status, body } = await call(service, 'GET', path);
      expect([path, status, body]).toMatchObject([path, 401, { error: { code: 'UNAUTHORIZED' } }]);
    }
    expect((await call(service, 'GET', '/mailbox.json', { headers: createKeyHeader(service) })).status).toBe(401);
  });

  it('shows an owner the email and SMS of their own projects', async () => {
    const list = async (path: string) => (await call(service, 'GET', path, { headers: owner })).body.data;
    await waitForCondition(service, async () => (await list('/mailbox.json')).length > 0);
    await waitForCondition(service, async () => (await list('/mailbox/sms.json')).length > 0);
    const [email] = await list('/mailbox.json');
    expect(email).toMatchObject({ to: 'ada@example.com', subject: 'For Ada' });
    for (const path of [`/mailbox/${email.id}`, `/mailbox/${email.id}/html`, `/mailbox/${email.id}/raw`]) {
      expect([path, (await call(service, 'GET', path)).status]).toEqual([path, 401]);
      expect([path, (await call(service, 'GET', path, { headers: otherUser })).status]).toEqual([path, 404]);
      expect([path, (await call(service, 'GET', path, { headers: owner })).status]).toEqual([path, 200]);
    }
    for (const path of ['/mailbox.json', '/mailbox/sms.json']) {
      const { status, body } = await call(service, 'GET', path, { headers: otherUser });
      expect([path, status, body]).toEqual([path, 200, { data: [] }]);
    }
  });

  it('prints where the keys are stored and who may use each part, but no key', () => {
    const { secretKey, testKey, owner: account } = service.dev();
    expect(service.output()).toMatch(/^Tidings is ready at http/m);
    for (const secret of [secretKey, testKey, account.password]) expect(service.output()).not.toContain(secret);
    expect(service.output()).not.toContain('/auth/link/');
    expect(service.output()).toMatch(/^ +Dashboard +http.*\/app$/m);
    expect(service.output()).toContain('dev.json');
    expect(service.output()).toMatch(/\/mailbox .*OWNER/);
    expect(service.output()).toMatch(/API .*0\.0\.0\.0:\d+ .*any machine/);
  });
});

describe('a service on a public HOST with a real email provider', () => {
  const home = createHomePath();
  let service: StartedService;
  let metricsPort: number;
  beforeAll(async () => {
    metricsPort = await findFreePort();
    const env = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:1', METRICS_PORT: String(metricsPort) };
    service = await startService({ home, env: { HOST: '0.0.0.0', ...env } });
  });
  afterAll(async () => {
    service?.signal('SIGTERM');
    await service?.exited;
    await removeHome(home);
  });

  it('has no SMS without a provider, and does not show its mailbox without a session', async () => {
    const body = { to: '+4915112345678', body: 'Your code is 934711' };
    const sms = await call(service, 'POST', '/v1/sms/send', { headers: createKeyHeader(service), body });
    expect([sms.status, sms.body.error.code]).toEqual([403, 'SMS_NOT_ENABLED']);
    for (const path of MAILBOX_PATHS) expect([path, (await call(service, 'GET', path)).status]).toEqual([path, 401]);
  });

  it('lets only the first user sign up', async () => {
    const body = { email: 'eve@other.example', password: 'a long password', projectName: 'Other' };
    expect((await call(service, 'POST', '/auth/signup', { body })).status).toBe(403);
  });

  it.runIf(process.platform === 'linux')('serves its metrics on loopback only', async () => {
    expect(service.output()).toMatch(new RegExp(`metrics .*127\\.0\\.0\\.1:${metricsPort}/metrics .*this machine`));
    for (const port of [metricsPort, metricsPort + 1]) {
      expect([port, await listListeners(port)]).toEqual([port, ['127.0.0.1']]);
    }
  });
});

describe('a service on a public HOST with the defaults of development', () => {
  let home: string;
  beforeEach(() => {
    home = createHomePath();
  });
  afterEach(() => removeHome(home));

  it.each(['0.0.0.0', '::'])('does not start with HOST=%s, and says in one line what to set', async (HOST) => {
    const { code, output } = await startAndWaitForExit({ home, env: { HOST } });
    expect(code).toBe(1);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).toMatch(/^EMAIL_PROVIDER .*ALLOW_CAPTURE=true/);
  });
});

/** Returns the addresses on which a port listens, from the kernel's tables. */
async function listListeners(port: number): Promise<string[]> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .concat((await readFile('/proc/net/tcp6', 'utf8')).split('\n'));
  return rows.flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    const [address = '', localPort] = local.split(':');
    if (state !== LISTEN || localPort !== hex) return [];
    return [
      address.length === 8
        ? (address
            .match(/../g)
            ?.reverse()
            .map((byte) => Number.parseInt(byte, 16))
            .join('.') ?? '')
        : address,
    ];
  });
}
