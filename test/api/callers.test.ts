import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../api/passwords.ts';
import { type RunningApi, startApi } from '../../api/server.ts';
import { insertAccount } from '../../db/accounts.ts';
import { newPublicKey } from '../../domain/api-keys.ts';
import { parseConfig } from '../../domain/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const PASSWORD = 'correct horse';
let database: TestDatabase;
/** Believes the proxy that these tests are, and a second one behind it. */
let behind: RunningApi;
/** Believes nobody. */
let bare: RunningApi;

const start = (env: Record<string, string> = {}) =>
  startApi(
    parseConfig({
      ...{ DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
      ...{ SECRET_KEY: 'the secret key of the tests', PORT: '0', SIGNUP: 'on', ...env },
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

async function send(api: RunningApi, path: string, p: { body?: object; headers?: Record<string, string> }) {
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...p.headers },
    body: JSON.stringify(p.body ?? {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
}

const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded });
let people = 0;

/** An account that was made elsewhere. */
async function person(): Promise<string> {
  people += 1;
  const email = `person-${people}@example.com`;
  const account = { email, projectName: 'Shop', publicKey: newPublicKey() };
  await insertAccount(database.db, { ...account, passwordHash: await hashPassword(PASSWORD) }, false);
  return email;
}

const logIn = (api: RunningApi, email: string, password: string, headers: Record<string, string> = {}) =>
  send(api, '/auth/login', { body: { email, password }, headers });

/** As many failures as an address may have. */
async function useUpAddress(api: RunningApi, headers: (n: number) => Record<string, string>): Promise<void> {
  for (let n = 0; n < 50; n += 1) {
    const { status } = await logIn(api, `nobody-${n}-${people}@example.com`, 'wrong', headers(n));
    expect(status).toBe(401);
  }
}

describe('behind a proxy that is trusted', () => {
  it("a stranger's failures are not the owner's", async () => {
    const email = await person();
    await useUpAddress(behind, () => from('203.0.113.1'));
    expect((await logIn(behind, email, PASSWORD, from('203.0.113.1'))).status).toBe(429);
    expect((await logIn(behind, email, PASSWORD, from('198.51.100.7'))).status).toBe(200);
  });

  it('nobody gets new failures by what they write before the address that the proxy saw', async () => {
    const email = await person();
    await useUpAddress(behind, (n) => from(`192.0.2.${n}, 203.0.113.2`));
    expect((await logIn(behind, email, PASSWORD, from('203.0.113.2'))).status).toBe(429);
  });

  it('the caller is the first from the right that is no proxy', async () => {
    const email = await person();
    await useUpAddress(behind, () => from('203.0.113.3, 10.1.2.3'));
    expect((await logIn(behind, email, PASSWORD, from('1.1.1.1, 203.0.113.3,10.9.9.9 , 10.0.0.1'))).status).toBe(429);
  });

  it('somebody with a network of IPv6 is one caller', async () => {
    const email = await person();
    await useUpAddress(behind, (n) => from(`2001:db8:1:2:${n}::${n + 1}`));
    expect((await logIn(behind, email, PASSWORD, from('2001:DB8:1:2:ffff::'))).status).toBe(429);
    expect((await logIn(behind, email, PASSWORD, from('2001:db8:1:3::1'))).status).toBe(200);
  });

  it.each(['', 'unknown', '203.0.113.4, nonsense', '_hidden', '203.0.113.999'])(
    'a list that cannot be read ("%s") leaves the address of the proxy itself',
    async (list) => {
      const email = await person();
      const { headers } = await logIn(behind, email, PASSWORD, from('203.0.113.5'));
      const cookie = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
      await send(behind, '/project/hold', { body: {}, headers: { ...cookie, ...from(list) } });
      expect(await addressesNoted(behind, cookie)).toEqual(['127.0.0.1']);
    },
  );

  it('the audit log has the whole address, without port', async () => {
    const email = await person();
    const { headers } = await logIn(behind, email, PASSWORD, from('203.0.113.5'));
    const cookie = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    for (const list of ['203.0.113.6:4711', '[2001:db8::7]:443', '2001:db8:0::8', '::ffff:203.0.113.9']) {
      await send(behind, '/project/hold', { body: {}, headers: { ...cookie, ...from(list) } });
    }
    expect(await addressesNoted(behind, cookie)).toEqual(['203.0.113.9', '2001:db8::8', '2001:db8::7', '203.0.113.6']);
  });
});

describe('without a proxy that is trusted', () => {
  it('nothing that a caller writes makes them another one', async () => {
    const email = await person();
    const { headers } = await logIn(bare, email, PASSWORD);
    const cookie = { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
    await send(bare, '/project/hold', { body: {}, headers: { ...cookie, ...from('203.0.113.1') } });
    expect(await addressesNoted(bare, cookie)).toEqual(['127.0.0.1']);
    await useUpAddress(bare, (n) => from(`203.0.113.${n}`));
    const late = await logIn(bare, await person(), PASSWORD, from('198.51.100.1'));
    expect([late.status, late.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  });
});

async function addressesNoted(api: RunningApi, headers: Record<string, string>): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${api.port}/audit-log`, { headers });
  const { data } = (await response.json()) as { data: { ip: string }[] };
  return data.map(({ ip }) => ip);
}
