import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertSession } from '../../../db/projects/sessions.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse', projectName: 'Shop' };
let secure: TestApi;
let plain: TestApi;
beforeAll(async () => {
  [secure, plain] = await Promise.all([startTestApi({ PUBLIC_URL: 'https://mail.example.com' }), startTestApi()]);
  for (const api of [secure, plain]) await post(api, '/auth/signup', ACCOUNT);
});
afterAll(() => Promise.all([secure.close(), plain.close()]));

const post = (api: TestApi, path: string, body?: object, cookie?: string) =>
  api.call('POST', path, { key: null, ...(body && { body }), ...(cookie && { headers: { cookie } }) });
const readOwnAccount = (api: TestApi, cookie: string) =>
  api.call('GET', '/auth/me', { key: null, headers: { cookie } });
const logIn = (api: TestApi, password = ACCOUNT.password) =>
  post(api, '/auth/login', { email: ACCOUNT.email, password });
/** Returns the name and value of the session cookie that a response sets. */
const readSessionCookie = ({ headers }: { headers: Headers }) =>
  headers
    .getSetCookie()
    .find((line) => /session=./.test(line))
    ?.split(';')[0] ?? '';

describe('the session cookie', () => {
  it('on https cannot be set by another host or by an unencrypted connection', async () => {
    const [line = ''] = (await logIn(secure)).headers.getSetCookie();
    expect(line).toMatch(/^__Host-tidings_session=[\w-]{43};/);
    expect(line.split('; ')).toEqual(expect.arrayContaining(['Secure', 'HttpOnly', 'Path=/', 'SameSite=Lax']));
    expect(line).not.toContain('Domain');
    const session = readSessionCookie({ headers: new Headers([['set-cookie', line]]) });
    expect((await readOwnAccount(secure, session)).status).toBe(200);
    expect((await readOwnAccount(secure, session.replace('__Host-', ''))).status).toBe(401);
  });

  it('on http has no __Host- prefix, which browsers would refuse there', async () => {
    const [line] = (await logIn(plain)).headers.getSetCookie();
    expect(line).toMatch(/^tidings_session=[\w-]{43};/);
    expect(line).not.toContain('Secure');
  });

  it('is removed at sign-out under both of its names', async () => {
    for (const api of [secure, plain]) {
      const out = await post(api, '/auth/logout', undefined, readSessionCookie(await logIn(api)));
      const cleared = out.headers.getSetCookie().filter((line) => line.includes('Max-Age=0'));
      expect(cleared.map((line) => line.split('=')[0]).sort()).toEqual(['__Host-tidings_session', 'tidings_session']);
    }
  });
});

describe('a password change', () => {
  it('gives the session a new token, and ends the old token and all other sessions', async () => {
    const [mine, other] = [readSessionCookie(await logIn(plain)), readSessionCookie(await logIn(plain))];
    const change = { currentPassword: ACCOUNT.password, newPassword: 'battery staple' };
    const changed = await post(plain, '/auth/password', change, mine);
    expect(changed.status).toBe(204);
    const fresh = readSessionCookie(changed);
    expect(fresh).not.toBe(mine);
    expect(
      await Promise.all([fresh, mine, other].map(async (cookie) => (await readOwnAccount(plain, cookie)).status)),
    ).toEqual([200, 401, 401]);
    expect((await logIn(plain)).status).toBe(401);
    expect((await logIn(plain, 'battery staple')).status).toBe(200);
  });

  it('succeeds for only one of several sessions that request it concurrently', async () => {
    await post(plain, '/auth/signup', { ...ACCOUNT, email: 'eve@example.com' });
    const signIn = async () =>
      readSessionCookie(await post(plain, '/auth/login', { email: 'eve@example.com', password: ACCOUNT.password }));
    const sessions = [await signIn(), await signIn(), await signIn()];
    const responses = await Promise.all(
      sessions.map((cookie, n) =>
        post(plain, '/auth/password', { currentPassword: ACCOUNT.password, newPassword: `battery ${n}` }, cookie),
      ),
    );
    expect(responses.filter(({ status }) => status === 204)).toHaveLength(1);
    const left = await plain.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .where('users.email', '=', 'eve@example.com')
      .select('token_hash')
      .execute();
    expect(left).toHaveLength(1);
  });

  it('never mixes up two accounts with the same address', async () => {
    const createAccountBody = (password: string) => ({ ...ACCOUNT, email: 'two@example.com', password });
    await post(plain, '/auth/signup', createAccountBody('of the first'));
    const second = readSessionCookie(await post(plain, '/auth/signup', createAccountBody('of the second')));
    const change = { currentPassword: 'of the second', newPassword: 'of the first' };
    const refused = await post(plain, '/auth/password', change, second);
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'newPassword']);
    expect((await readOwnAccount(plain, second)).status).toBe(200);
  });

  it('creates no session for a sign-in that checked the old password', async () => {
    const user = await plain.db
      .selectFrom('users')
      .selectAll()
      .where('email', '=', 'eve@example.com')
      .executeTakeFirstOrThrow();
    const [project] = await plain.db.selectFrom('memberships').selectAll().where('user_id', '=', user.id).execute();
    const session = { tokenHash: Buffer.alloc(32, 7), userId: user.id, projectId: project?.project_id ?? '', days: 1 };
    expect(await insertSession(plain.db, { ...session, passwordHash: 'what it was' })).toBe(false);
    expect(await insertSession(plain.db, { ...session, passwordHash: user.password_hash })).toBe(true);
  });
});
