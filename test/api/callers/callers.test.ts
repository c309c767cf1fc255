import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApi, startApi } from '../../../api/http/server.ts';
import { hashPassword } from '../../../api/routes/auth/passwords.ts';
import { insertAccount } from '../../../db/projects/accounts.ts';
import { generatePublicKey } from '../../../rules/access/api-keys.ts';
import { parseConfig } from '../../../rules/config.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { callHttp } from '../../support/http.ts';

const PASSWORD = 'correct horse';
let database: TestDatabase;
/** An API that trusts the address of these tests as a proxy, and a second proxy behind it. */
let behind: RunningApi;
/** An API that trusts no proxy. */
let bare: RunningApi;

const start = (env: Record<string, string> = {}) =>
  startApi(
    parseConfig({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SECRET_KEY: 'the secret key of the tests',
      PORT: '0',
      SIGNUP: 'on',
      ...env,
    }),
    { log: pino({ level: 'silent' }) },
  );

beforeAll(async () => {
  database = await createTestDatabase();
  [behind, bare] = await Promise.all([start({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' }), start()]);
});
afterAll(async () => {
  await Promise.all([behind?.close(), bare?.close()]);
  await database.drop();
});

const send = (api: RunningApi, path: string, p: { body?: object; headers?: Record<string, string> }) =>
  callHttp(`http://127.0.0.1:${api.port}`, 'POST', path, { body: {}, ...p });

const createForwardedFor = (forwarded: string) => ({ 'x-forwarded-for': forwarded });
let people = 0;

/** Creates another account, so that tests do not share failed sign-ins. */
async function buildAccount(): Promise<string> {
  people += 1;
  const email = `person-${people}@example.com`;
  const account = { email, projectName: 'Shop', publicKey: generatePublicKey() };
  await insertAccount(database.db, { ...account, passwordHash: await hashPassword(PASSWORD) }, false);
  return email;
}

const logIn = (api: RunningApi, email: string, password: string, headers: Record<string, string> = {}) =>
  send(api, '/auth/login', { body: { email, password }, headers });

/** Makes as many failed sign-ins as the limit of one IP address allows. */
async function useUpSignIns(api: RunningApi, headers: (n: number) => Record<string, string>): Promise<void> {
  const failures = Array.from({ length: 50 }, async (_, n) => {
    const { status } = await logIn(api, `nobody-${n}-${people}@example.com`, 'wrong', headers(n));
    return status;
  });
  expect(new Set(await Promise.all(failures))).toEqual(new Set([401]));
}

describe('behind a trusted proxy', () => {
  it('failures of another caller do not count against the account’s owner', async () => {
    const email = await buildAccount();
    await useUpSignIns(behind, () => createForwardedFor('203.0.113.1'));
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.1'))).status).toBe(429);
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('198.51.100.7'))).status).toBe(200);
  });

  it('text that a caller adds before the proxy’s address gives the caller no new attempts', async () => {
    const email = await buildAccount();
    await useUpSignIns(behind, (n) => createForwardedFor(`192.0.2.${n}, 203.0.113.2`));
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.2'))).status).toBe(429);
  });

  it('the caller is the first address from the right that is not a proxy', async () => {
    const email = await buildAccount();
    await useUpSignIns(behind, () => createForwardedFor('203.0.113.3, 10.1.2.3'));
    expect(
      (await logIn(behind, email, PASSWORD, createForwardedFor('1.1.1.1, 203.0.113.3,10.9.9.9 , 10.0.0.1'))).status,
    ).toBe(429);
  });

  it('all addresses of an IPv6 network count as one caller', async () => {
    const email = await buildAccount();
    await useUpSignIns(behind, (n) => createForwardedFor(`2001:db8:1:2:${n}::${n + 1}`));
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('2001:DB8:1:2:ffff::'))).status).toBe(429);
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('2001:db8:1:3::1'))).status).toBe(200);
  });

  it.each(['', 'unknown', '203.0.113.4, nonsense', '_hidden', '203.0.113.999'])(
    'an unreadable X-Forwarded-For ("%s") makes the proxy itself the caller',
    async (list) => {
      const email = await buildAccount();
      const { headers } = await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.5'));
      const cookie = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
      await send(behind, '/project/hold', { body: {}, headers: { ...cookie, ...createForwardedFor(list) } });
      expect(await readAuditedAddresses(behind, cookie)).toEqual(['127.0.0.1']);
    },
  );

  it('the audit log has the whole address, without its port', async () => {
    const email = await buildAccount();
    const { headers } = await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.5'));
    const cookie = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    for (const list of ['203.0.113.6:4711', '[2001:db8::7]:443', '2001:db8:0::8', '::ffff:203.0.113.9']) {
      await send(behind, '/project/hold', { body: {}, headers: { ...cookie, ...createForwardedFor(list) } });
    }
    expect(await readAuditedAddresses(behind, cookie)).toEqual([
      '203.0.113.9',
      '2001:db8::8',
      '2001:db8::7',
      '203.0.113.6',
    ]);
  });
});

describe('without a trusted proxy', () => {
  it('no header makes a caller count as another caller', async () => {
    const email = await buildAccount();
    const { headers } = await logIn(bare, email, PASSWORD);
    const cookie = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    await send(bare, '/project/hold', { body: {}, headers: { ...cookie, ...createForwardedFor('203.0.113.1') } });
    expect(await readAuditedAddresses(bare, cookie)).toEqual(['127.0.0.1']);
    await useUpSignIns(bare, (n) => createForwardedFor(`203.0.113.${n}`));
    const late = await logIn(bare, await buildAccount(), PASSWORD, createForwardedFor('198.51.100.1'));
    expect([late.status, late.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  });
});

describe('failed sign-ins', () => {
  const failSignIns = async (email: string, n: number, headers: Record<string, string>) => {
    const responses = [];
    for (let i = 0; i < n; i += 1) responses.push((await logIn(behind, email, 'wrong', headers)).status);
    return responses;
  };
  /** Returns the cookies of a response in the form in which a browser sends them. */
  const toCookieHeader = ({ headers }: { headers: Headers }) => ({
    cookie: headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; '),
  });

  it('failed sign-ins from one IP address lock only that IP address out of the account', async () => {
    const email = await buildAccount();
    expect(await failSignIns(email, 11, createForwardedFor('203.0.113.20'))).toEqual([...Array(10).fill(401), 429]);
    const late = await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.20'));
    expect([late.status, late.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.21'))).status).toBe(200);
  });

  it('failed sign-ins from many addresses lock out callers that are new to the account, and no browser that was signed in before', async () => {
    const email = await buildAccount();
    const browser = toCookieHeader(await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.30')));
    for (let n = 0; n < 5; n += 1) await failSignIns(email, 10, createForwardedFor(`198.51.100.${n}`));
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.31'))).status).toBe(429);
    expect((await logIn(behind, email, PASSWORD, { ...browser, ...createForwardedFor('203.0.113.31') })).status).toBe(
      200,
    );
  });

  it('by other callers at the same address do not lock out a browser that was signed in before', async () => {
    const email = await buildAccount();
    const browser = toCookieHeader(await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.40')));
    await useUpSignIns(behind, () => createForwardedFor('203.0.113.40'));
    expect((await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.40'))).status).toBe(429);
    expect((await logIn(behind, email, PASSWORD, { ...browser, ...createForwardedFor('203.0.113.40') })).status).toBe(
      200,
    );
  });

  it('by a browser that was signed in before lock it out too, and its cookie does not help with another account', async () => {
    const [email, other] = [await buildAccount(), await buildAccount()];
    const browser = {
      ...toCookieHeader(await logIn(behind, email, PASSWORD, createForwardedFor('203.0.113.50'))),
      ...createForwardedFor('203.0.113.51'),
    };
    expect(await failSignIns(email, 11, browser)).toEqual([...Array(10).fill(401), 429]);
    expect((await logIn(behind, email, PASSWORD, browser)).status).toBe(429);
    expect(await failSignIns(other, 11, browser)).toEqual([...Array(10).fill(401), 429]);
  });

  it('stay counted when the caller signs in to their own account with the same email address', async () => {
    const email = await buildAccount();
    const own = { email, password: 'of the stranger', projectName: 'Mine' };
    const browser = toCookieHeader(
      await send(behind, '/auth/signup', { body: own, headers: createForwardedFor('203.0.113.60') }),
    );
    const guesses = [];
    for (let n = 0; n < 14; n += 1) {
      guesses.push(
        (await logIn(behind, email, `guess ${n}`, { ...browser, ...createForwardedFor('203.0.113.61') })).status,
      );
      await logIn(behind, email, own.password, { ...browser, ...createForwardedFor('203.0.113.62') });
    }
    expect(guesses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
  });
});

describe('signing up', () => {
  const signUp = (email: string, headers: Record<string, string>, password = PASSWORD) =>
    send(behind, '/auth/signup', { body: { email, password, projectName: 'New' }, headers });
  const readSessionCookie = ({ headers }: { headers: Headers }) => ({
    cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '',
  });
  const readOwnAccount = async (headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${behind.port}/auth/me`, { headers });
    return (await response.json()) as { projectId: string; projects: { id: string; name: string }[] };
  };

  it("does not reveal whether an account exists: the response and the session's rights are the same", async () => {
    const known = await buildAccount();
    const [again, fresh] = [
      await signUp(known, createForwardedFor('203.0.113.70'), 'another password'),
      await signUp('nobody-yet@example.com', createForwardedFor('203.0.113.71'), 'another password'),
    ];
    expect([again.status, fresh.status]).toEqual([201, 201]);
    const describeResponse = ({ headers, body }: typeof again) => ({
      headers: [...headers.keys()].filter((name) => name !== 'date').sort(),
      cookies: headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '')),
      body: Object.keys(body),
      projects: body.projects.map(({ name, role }: { name: string; role: string }) => ({ name, role })),
    });
    expect(describeResponse(again)).toEqual(describeResponse(fresh));
    expect((await readOwnAccount(readSessionCookie(again))).projects).toHaveLength(1);
    // The response shows no data of the existing account, and the account has not changed.
    const owner = await logIn(behind, known, PASSWORD, createForwardedFor('203.0.113.72'));
    expect(owner.body.projects).toMatchObject([{ name: 'Shop' }]);
    expect(owner.body.user.id).not.toBe(again.body.user.id);
    expect((await readOwnAccount(readSessionCookie(again))).projectId).not.toBe(owner.body.projectId);
    const second = await logIn(behind, known, 'another password', createForwardedFor('203.0.113.72'));
    expect(second.body.user.id).toBe(again.body.user.id);
  });

  it('creates one account when the same request is sent twice, also concurrently', async () => {
    const responses = await Promise.all(
      [1, 2, 3].map(() => signUp('twice@example.com', createForwardedFor('203.0.113.73'))),
    );
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(responses.map(({ body }) => `${body.user.id} ${body.projects.length}`)).size).toBe(1);
  });

  it('a sign-up gives no additional attempts to guess a password', async () => {
    const known = await buildAccount();
    for (const [email, address] of [
      [known, '203.0.113.74'],
      ['free@example.com', '203.0.113.75'],
    ] as const) {
      const statuses = [];
      for (let n = 0; n < 11; n += 1)
        statuses.push((await signUp(email, createForwardedFor(address), `guess ${n}.`)).status);
      expect([email, statuses.slice(9)]).toEqual([email, [201, 429]]);
      expect((await signUp(email, createForwardedFor('203.0.113.76'), 'once more')).status).toBe(201);
    }
  });

  it('is limited to 20 attempts an hour from one IP address', async () => {
    const statuses = [];
    for (let n = 0; n < 20; n += 1)
      statuses.push((await signUp(`many-${n}@example.com`, createForwardedFor('203.0.113.80'))).status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    const late = await signUp('many-21@example.com', createForwardedFor('203.0.113.80'));
    expect([late.status, late.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect((await signUp('many-22@example.com', createForwardedFor('203.0.113.81'))).status).toBe(201);
  });

  it('is limited to 50 attempts a minute from the machine of the service', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 51 }, async (_, n) => (await signUp(`here-${n}@example.com`, {})).status),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });
});

async function readAuditedAddresses(api: RunningApi, headers: Record<string, string>): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${api.port}/audit-log`, { headers });
  const { data } = (await response.json()) as { data: { ip: string }[] };
  return data.map(({ ip }) => ip);
}
