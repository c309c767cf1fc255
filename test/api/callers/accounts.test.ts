import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const ACCOUNT = { email: ' Ada@Example.com ', password: 'correct horse', projectName: 'Shop' };

const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', path, { key: null, body, headers });
const get = (path: string, headers: Record<string, string>) => api.call('GET', path, { key: null, headers });
const readSessionCookie = (headers: Headers) => ({ cookie: headers.get('set-cookie')?.split(';')[0] ?? '' });

describe('signing up and signing in', () => {
  it('creates an account with a project and signs it in with a cookie that scripts cannot read', async () => {
    const created = await post('/auth/signup', ACCOUNT);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      user: { email: 'ada@example.com' },
      role: 'OWNER',
      projects: [{ name: 'Shop' }],
    });
    expect(created.headers.getSetCookie()).toHaveLength(2);
    expect(created.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Lax/);
    expect(created.headers.get('set-cookie')).not.toContain('Secure');
    const me = await get('/auth/me', readSessionCookie(created.headers));
    expect(me.body).toEqual(created.body);
  });

  it('accepts the right password, and returns the same error for a wrong password and an unknown user', async () => {
    const right = await post('/auth/login', { email: 'ada@example.com', password: 'correct horse' });
    expect(right.status).toBe(200);
    const wrong = await post('/auth/login', { email: 'ada@example.com', password: 'wrong horse' });
    const unknown = await post('/auth/login', { email: 'bob@example.com', password: 'wrong horse' });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body.error.message).toBe(unknown.body.error.message);
  });

  it('ends the session when the user signs out', async () => {
    const session = readSessionCookie(
      (await post('/auth/login', { email: 'ada@example.com', password: 'correct horse' })).headers,
    );
    expect((await post('/auth/logout', undefined, session)).status).toBe(204);
    expect((await get('/auth/me', session)).status).toBe(401);
  });

  it('changes the password only with the current password', async () => {
    const logIn = async (password: string) => post('/auth/login', { email: 'ada@example.com', password });
    const mine = readSessionCookie((await logIn('correct horse')).headers);
    const refused = await post('/auth/password', { currentPassword: 'wrong', newPassword: 'battery staple' }, mine);
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'currentPassword']);
    const changed = await post(
      '/auth/password',
      { currentPassword: 'correct horse', newPassword: 'battery staple' },
      mine,
    );
    expect(changed.status).toBe(204);
    expect((await get('/auth/me', readSessionCookie(changed.headers))).status).toBe(200);
    expect((await logIn('correct horse')).status).toBe(401);
    expect((await logIn('battery staple')).status).toBe(200);
  });

  it('refuses sign-ins after ten failures of an account in 15 minutes, also with the right password and concurrently', async () => {
    await post('/auth/signup', { ...ACCOUNT, email: 'eve@example.com' });
    const tries = await Promise.all(
      Array.from({ length: 14 }, () => post('/auth/login', { email: 'eve@example.com', password: 'no' })),
    );
    expect(tries.filter((response) => response.status === 401)).toHaveLength(10);
    const late = await post('/auth/login', { email: 'eve@example.com', password: 'correct horse' });
    expect([late.status, late.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(800);
  });
});

describe('sessions', () => {
  it('switch only between the projects of their user', async () => {
    const session = await signIn(api, api.one);
    expect((await post('/auth/project', { projectId: api.two.id }, session)).status).toBe(404);
    const me = await get('/auth/me', session);
    await api.db
      .insertInto('memberships')
      .values({ project_id: api.two.id, user_id: me.body.user.id, role: 'MEMBER' })
      .execute();
    const switched = await post('/auth/project', { projectId: api.two.id }, session);
    expect(switched.body).toMatchObject({ projectId: api.two.id, role: 'MEMBER' });
    expect((await get('/project', session)).body.error.details).toEqual({ requiredScope: 'project:manage' });
  });

  it('refuse requests that name another project than the current one, and change nothing', async () => {
    const session = await signIn(api, api.one);
    const inOne = { ...session, 'tidings-project': api.one.id };
    const inTwo = { ...session, 'tidings-project': api.two.id };
    expect((await get('/project', inOne)).status).toBe(200);
    expect((await get('/project', { ...inOne, 'tidings-project': api.one.id.toUpperCase() })).status).toBe(200);
    const refused = await get('/project', inTwo);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(refused.body.error.details).toEqual({ sessionProjectId: api.one.id });
    const write = await post('/contacts', { email: 'grace@people.test' }, inTwo);
    expect(write.status).toBe(409);
    expect((await get('/contacts', inOne)).body.data).toEqual([]);
    expect((await post('/auth/project', { projectId: api.one.id }, session)).status).toBe(200);
  });

  it('of a role without the needed scope get the conflict of the project first', async () => {
    const member = await signIn(api, api.one, 'MEMBER');
    const refused = await get('/project', { ...member, 'tidings-project': api.two.id });
    expect(refused.status).toBe(409);
  });

  it('are the only credentials that the header Tidings-Project applies to', async () => {
    const withKey = await api.call('GET', '/contacts', { headers: { 'tidings-project': api.two.id } });
    expect(withKey.status).toBe(200);
  });

  it('can write only from the service’s own origin, or from a client that is not a browser', async () => {
    const session = await signIn(api, api.one);
    const setHold = (headers: Record<string, string>) => post('/project/hold', {}, { ...session, ...headers });
    expect((await setHold({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await setHold({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await setHold({ 'content-type': 'text/plain' })).status).toBe(403);
    expect((await setHold({ origin: api.deps.config.publicUrl })).status).toBe(200);
    expect((await setHold({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await setHold({})).status).toBe(200);
  });
});

describe('the project of a session', () => {
  it('changes the given fields and keeps the others', async () => {
    const session = await signIn(api, api.one);
    const patched = await api.call('PATCH', '/project', {
      key: null,
      headers: session,
      body: { tracking: 'DISABLED' },
    });
    expect(patched.body).toMatchObject({ name: 'One', tracking: 'DISABLED', public: api.one.publicKey });
    const refused = await api.call('PATCH', '/project', { key: null, headers: session, body: { tracking: 'SOME' } });
    expect(refused.body.error.errors).toEqual([
      expect.objectContaining({ field: 'tracking', code: 'invalid_enum_value' }),
    ]);
  });

  it('is put on hold with a reason, and sends each held email once after its release', async () => {
    const session = await signIn(api, api.two);
    const held = await post('/project/hold', { reason: 'too many complaints' }, session);
    expect(held.body.hold).toMatchObject({ held: true, reason: 'too many complaints' });
    expect((await get('/auth/me', session)).body.hold.held).toBe(true);
    const health = await api.call('GET', '/health', { key: api.two.secretKey });
    expect(health.body.project).toMatchObject({ id: api.two.id, hold: { held: true } });
    expect((await api.call('GET', '/health', { key: null })).body).toEqual({ status: 'ok' });
    api.dispatched.length = 0;
    expect((await post('/project/release', undefined, session)).body.hold).toEqual({
      held: false,
      since: null,
      reason: null,
    });
    await post('/project/release', undefined, session);
    expect(api.dispatched.map(({ kind, refId }) => ({ kind, refId }))).toEqual([
      { kind: 'hold.release', refId: api.two.id },
    ]);
  });
});

describe('sign-up', () => {
  it('is open only to the first user with SIGNUP=first, also for two concurrent requests', async () => {
    const closed = await startTestApi({ SIGNUP: 'first' });
    const signUp = (email: string) => closed.call('POST', '/auth/signup', { key: null, body: { ...ACCOUNT, email } });
    const both = await Promise.all([signUp('a@example.com'), signUp('b@example.com')]);
    expect(both.map((response) => response.status).sort()).toEqual([201, 403]);
    await closed.close();
  });
});
