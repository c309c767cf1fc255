import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashToken } from '../../../api/http/session-cookie.ts';
import { insertSignInLink } from '../../../db/projects/sign-in-links.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const ENDED = '/app/sign-in?link=ended';
const PASSWORD = 'correct horse';

let api: TestApi;
let people = 0;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

interface Person {
  email: string;
  projectId: string;
  cookie: string;
}

/** Builds an owner who signed up. */
async function buildOwner(of = api): Promise<Person> {
  people += 1;
  const email = `person-${people}@example.com`;
  const body = { email, password: PASSWORD, projectName: 'Shop' };
  const response = await of.call('POST', '/auth/signup', { key: null, body });
  return { email, projectId: response.body.projectId, cookie: readSessionCookie(response.headers) };
}

async function createSignInLink({ email, projectId }: Person, of = api): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  expect(await insertSignInLink(of.db, { projectId, email, tokenHash: hashToken(token), minutes: 15 })).toBe(true);
  return `/auth/link/${token}`;
}

const readSessionCookie = (headers: Headers) =>
  headers
    .getSetCookie()
    .find((line) => line.startsWith('tidings_session='))
    ?.split(';')[0] ?? '';

/** Returns the target of an opened link, and its session. */
async function openLink(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await api.app.request(path, { method, headers });
  return {
    status: response.status,
    to: response.headers.get('location'),
    session: readSessionCookie(response.headers),
  };
}

const ended = { status: 303, to: ENDED, session: '' };

describe('a sign-in link', () => {
  it('signs the owner in once, and redirects to the dashboard', async () => {
    const owner = await buildOwner();
    const link = await createSignInLink(owner);
    const { status, to, session } = await openLink(link);
    expect([status, to]).toEqual([303, '/app']);
    const me = await api.call('GET', '/auth/me', { key: null, headers: { cookie: session } });
    expect(me.body).toMatchObject({ user: { email: owner.email }, projectId: owner.projectId, role: 'OWNER' });
    expect(await openLink(link)).toEqual(ended);
  });

  it('signs in only one of several concurrent visitors', async () => {
    const link = await createSignInLink(await buildOwner());
    const responses = await Promise.all(Array.from({ length: 8 }, () => openLink(link)));
    expect(responses.filter(({ to }) => to === '/app')).toHaveLength(1);
    expect(responses.filter(({ session }) => session !== '')).toHaveLength(1);
  });

  it('is stored only as a hash', async () => {
    const link = await createSignInLink(await buildOwner());
    const token = link.split('/').at(-1) ?? '';
    const { rows } = await sql<{ row: string }>`SELECT l::text AS row FROM sign_in_links l`.execute(api.db);
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(token);
  });

  it.each([
    ['a HEAD request', {}, 'HEAD'],
    ['a prefetch of a browser', { 'sec-purpose': 'prefetch' }, 'GET'],
    ['a prerender of a browser', { 'sec-purpose': 'prefetch;prerender' }, 'GET'],
    ['a prefetch of an older browser', { 'x-moz': 'prefetch' }, 'GET'],
    ['a frame', { 'sec-fetch-dest': 'iframe' }, 'GET'],
    ['an image of another page', { 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' }, 'GET'],
    ['a script’s request', { 'sec-fetch-dest': 'empty' }, 'GET'],
  ])('is not used up by %s', async (_, headers, method) => {
    const link = await createSignInLink(await buildOwner());
    expect(await openLink(link, headers, method)).toEqual({ status: 503, to: null, session: '' });
    expect((await openLink(link)).to).toBe('/app');
  });

  it.each([
    ['comes through a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['names another host', { host: 'mail.example.com' }],
  ])('signs in no one if the request %s', async (_, headers) => {
    const link = await createSignInLink(await buildOwner());
    const { to, session } = await openLink(link, headers);
    expect([to === '/app', session]).toEqual([false, '']);
    expect((await openLink(link)).to).toBe('/app');
  });

  it('expires, and becomes invalid when a newer link is made', async () => {
    const owner = await buildOwner();
    const first = await createSignInLink(owner);
    const second = await createSignInLink(owner);
    expect(await openLink(first)).toEqual(ended);
    await api.db
      .updateTable('sign_in_links')
      .set({ expires_at: sql`now()` })
      .where('project_id', '=', owner.projectId)
      .execute();
    expect(await openLink(second)).toEqual(ended);
    expect(await openLink('/auth/link/anything')).toEqual(ended);
  });

  it('becomes invalid when the password changes, as sessions do', async () => {
    const owner = await buildOwner();
    const link = await createSignInLink(owner);
    const body = { currentPassword: PASSWORD, newPassword: 'battery staple' };
    const headers = { cookie: owner.cookie };
    expect((await api.call('POST', '/auth/password', { key: null, headers, body })).status).toBe(204);
    expect(await openLink(link)).toEqual(ended);
  });

  it('works only for an owner: a former owner gets no link and cannot use an earlier one', async () => {
    const owner = await buildOwner();
    const link = await createSignInLink(owner);
    await api.db.updateTable('memberships').set({ role: 'MEMBER' }).where('project_id', '=', owner.projectId).execute();
    expect(await openLink(link)).toEqual(ended);
    const again = { projectId: owner.projectId, email: owner.email, tokenHash: hashToken('x'), minutes: 15 };
    expect(await insertSignInLink(api.db, again)).toBe(false);
  });
});

describe('a service that other machines can reach', () => {
  it.each<Record<string, string>>([
    { HOST: '0.0.0.0', ALLOW_CAPTURE: 'true' },
    { PUBLIC_URL: 'https://mail.example.com' },
    { PUBLIC_URL: 'http://mail.example.com' },
    { PUBLIC_URL: 'https://localhost' },
  ])('has no sign-in links with %j', async (env) => {
    const publicApi = await startTestApi(env);
    try {
      const link = await createSignInLink(await buildOwner(publicApi), publicApi);
      const response = await publicApi.app.request(link, { headers: { host: '127.0.0.1:3000' } });
      expect([response.status, readSessionCookie(response.headers)]).toEqual([404, '']);
    } finally {
      await publicApi.close();
    }
  });
});
