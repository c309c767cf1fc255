import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../rules/access/scopes.ts';
import { buildDomain } from '../../build/senders.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';
import { signIn } from '../../support/session.ts';

type Person = Record<string, string>;

let api: TestApi;
let project: TestProject;
let owner: Person;
let counter = 0;

beforeAll(async () => {
  // Sign-up is off, but an invited person can join.
  api = await startTestApi({ SIGNUP: 'off' });
});
afterAll(() => api?.close());
beforeEach(async () => {
  counter += 1;
  project = await buildProject(api.db, `Team ${counter}`);
  owner = await signIn(api, project);
});

const call = (method: string, path: string, who: Person | null, body?: unknown) =>
  api.call(method, path, { key: null, headers: who ?? {}, ...(body !== undefined && { body }) });
const invite = (email: string, role: Role = 'MEMBER', who = owner) =>
  call('POST', '/team/invitations', who, { email, role });
const parseToken = (url: string) => url.split('#')[1] ?? '';
const readSessionCookie = (headers: Headers) => ({ cookie: headers.get('set-cookie')?.split(';')[0] ?? '' });
const readUserId = async (who: Person) => (await call('GET', '/auth/me', who)).body.user.id;
const listAuditedActions = async () =>
  (await call('GET', '/audit-log', owner)).body.data.map((entry: { action: string }) => entry.action);

describe('an invitation', () => {
  it('creates an account with its role once, although sign-up is closed', async () => {
    const invited = await invite(' Grace@Example.com ', 'ADMIN');
    expect(invited.status, JSON.stringify(invited.body)).toBe(201);
    expect(invited.body).toMatchObject({ email: 'grace@example.com', role: 'ADMIN', mailed: false });
    expect(invited.body.url).toMatch(/\/app\/join#.{40,}$/);
    const days = (Date.parse(invited.body.expiresAt) - Date.parse(invited.body.createdAt)) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    const token = parseToken(invited.body.url);
    const looked = await call('POST', '/auth/invitations/look', null, { token });
    expect(looked.body).toMatchObject({ email: 'grace@example.com', role: 'ADMIN', projectName: `Team ${counter}` });
    const joined = await call('POST', '/auth/invitations/accept', null, { token, password: 'correct horse' });
    expect(joined.body).toMatchObject({ user: { email: 'grace@example.com' }, role: 'ADMIN', projectId: project.id });
    const me = await call('GET', '/auth/me', readSessionCookie(joined.headers));
    expect(me.body.projects).toHaveLength(1);
    for (const path of ['look', 'accept']) {
      const again = await call('POST', `/auth/invitations/${path}`, null, { token, password: 'correct horse' });
      expect([again.status, again.body.error.code]).toEqual([404, 'NOT_FOUND']);
    }
    const { body } = await call('GET', '/team', owner);
    expect(body.members).toContainEqual(expect.objectContaining({ email: 'grace@example.com', role: 'ADMIN' }));
    expect(body.invitations).toEqual([]);
    expect(await listAuditedActions()).toEqual(['team.joined', 'team.invited']);
  });

  it('lets a signed-in user with any address join, and switches the session to the project', async () => {
    const somebody = await signIn(api, api.two);
    const { url } = (await invite('other@example.com')).body;
    const joined = await call('POST', '/auth/invitations/join', somebody, { token: parseToken(url) });
    expect(joined.body).toMatchObject({ projectId: project.id, role: 'MEMBER' });
    expect(joined.body.projects.map(({ id }: { id: string }) => id).sort()).toEqual([api.two.id, project.id].sort());
  });

  it('signs the invited person in to an existing account with its address and password', async () => {
    const { url } = (await invite('two@example.com')).body;
    const first = await call('POST', '/auth/invitations/accept', null, {
      token: parseToken(url),
      password: 'long enough',
    });
    const other = await buildProject(api.db, 'Other');
    const inviter = await signIn(api, other);
    const again = (await invite('two@example.com', 'MEMBER', inviter)).body;
    const second = await call('POST', '/auth/invitations/accept', null, {
      token: parseToken(again.url),
      password: 'long enough',
    });
    expect(second.body.user.id).toBe(first.body.user.id);
    expect(second.body.projects).toHaveLength(2);
  });

  it('becomes invalid when it is withdrawn, renewed or expired, or when its author leaves', async () => {
    const one = (await invite('a@example.com')).body;
    const anew = (await invite('a@example.com', 'ADMIN')).body;
    expect((await call('GET', '/team', owner)).body.invitations).toMatchObject([{ id: anew.id, role: 'ADMIN' }]);
    const withdrawn = (await invite('b@example.com')).body;
    expect((await call('DELETE', `/team/invitations/${withdrawn.id}`, owner)).status).toBe(204);
    const over = (await invite('c@example.com')).body;
    await api.db
      .updateTable('invitations')
      .set({ expires_at: new Date(0) })
      .where('id', '=', over.id)
      .execute();
    const admin = await signIn(api, project, 'ADMIN');
    const theirs = (await invite('d@example.com', 'MEMBER', admin)).body;
    expect((await call('DELETE', `/team/members/${await readUserId(admin)}`, owner)).status).toBe(204);
    for (const { url } of [one, withdrawn, over, theirs]) {
      const looked = await call('POST', '/auth/invitations/look', null, { token: parseToken(url) });
      expect(looked.status).toBe(404);
    }
    expect((await call('POST', '/auth/invitations/look', null, { token: parseToken(anew.url) })).status).toBe(200);
  });

  it('as OWNER becomes invalid when its author is no longer OWNER, and other invitations of the author stay', async () => {
    const other = await signIn(api, project, 'OWNER');
    const asOwner = (await invite('e@example.com', 'OWNER', other)).body;
    const asAdmin = (await invite('f@example.com', 'ADMIN', other)).body;
    const path = `/team/members/${await readUserId(other)}`;
    expect((await call('PATCH', path, owner, { role: 'ADMIN' })).status).toBe(200);
    const look = (url: string) => call('POST', '/auth/invitations/look', null, { token: parseToken(url) });
    expect([(await look(asOwner.url)).status, (await look(asAdmin.url)).status]).toEqual([404, 200]);
  });

  it('is emailed if the project has a verified domain, and the email history hides its link', async () => {
    await buildDomain(api.db, { projectId: project.id, domain: `team${counter}.example.com` });
    api.dispatched.length = 0;
    const invited = await invite('grace@example.com', 'OWNER');
    expect(invited.body.mailed).toBe(true);
    expect(api.dispatched).toMatchObject([{ kind: 'email.deliver' }]);
    const read = (path: string) => api.call('GET', path, { key: project.secretKey });
    const list = await read('/v1/emails');
    const [email] = list.body.data.emails ?? list.body.data;
    const one = await read(`/v1/emails/${email.id}`);
    expect(one.status).toBe(200);
    expect(JSON.stringify(one.body)).toContain(`Team ${counter}`);
    for (const { body } of [list, one]) expect(JSON.stringify(body)).not.toContain(parseToken(invited.body.url));
    await api.db.updateTable('emails').set({ status: 'SENT' }).where('id', '=', email.id).execute();
    const again = await api.call('POST', `/v1/emails/${email.id}/resend`, { key: project.secretKey });
    expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);
  });

  it('is limited to 20 an hour', async () => {
    for (let n = 0; n < 20; n += 1) expect((await invite(`p${n}@example.com`)).status).toBe(201);
    const refused = await invite('p20@example.com');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
  });
});

describe('roles', () => {
  it('an ADMIN manages all users except OWNERs', async () => {
    const admin = await signIn(api, project, 'ADMIN');
    const member = await signIn(api, project, 'MEMBER');
    const [ownerId, memberId] = [await readUserId(owner), await readUserId(member)];
    expect((await invite('o@example.com', 'OWNER', admin)).status).toBe(403);
    expect((await call('PATCH', `/team/members/${memberId}`, admin, { role: 'OWNER' })).status).toBe(403);
    expect((await call('PATCH', `/team/members/${ownerId}`, admin, { role: 'MEMBER' })).status).toBe(403);
    expect((await call('DELETE', `/team/members/${ownerId}`, admin)).status).toBe(403);
    const raised = await call('PATCH', `/team/members/${memberId}`, admin, { role: 'ADMIN' });
    expect([raised.status, raised.body.role]).toEqual([200, 'ADMIN']);
    expect((await call('GET', '/auth/me', member)).body.permissions).toContain('team:manage');
    expect(await listAuditedActions()).toEqual(['team.role_changed']);
  });

  it('the last OWNER can neither leave nor get another role, also in concurrent requests', async () => {
    const ownerId = await readUserId(owner);
    const last = await call('DELETE', `/team/members/${ownerId}`, owner);
    expect([last.status, last.body.error.code]).toEqual([409, 'CONFLICT']);
    expect((await call('PATCH', `/team/members/${ownerId}`, owner, { role: 'ADMIN' })).status).toBe(409);
    const second = await signIn(api, project);
    const responses = await Promise.all([
      call('DELETE', `/team/members/${ownerId}`, owner),
      call('DELETE', `/team/members/${await readUserId(second)}`, second),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  it('a removed member loses access at once, and keeps access to other projects', async () => {
    const member = await signIn(api, project, 'MEMBER');
    expect((await call('DELETE', `/team/members/${await readUserId(member)}`, owner)).status).toBe(204);
    expect((await call('GET', '/auth/me', member)).status).toBe(401);
    expect(await listAuditedActions()).toEqual(['team.removed']);
  });

  it('every member can leave the project, also a disabled one, and cannot remove others', async () => {
    const member = await signIn(api, project, 'MEMBER');
    const [memberId, ownerId] = [await readUserId(member), await readUserId(owner)];
    const other = await call('DELETE', `/team/members/${ownerId}`, member);
    expect([other.status, other.body.error.details]).toEqual([403, { requiredScope: 'team:manage' }]);
    await api.db.updateTable('projects').set({ disabled_at: new Date() }).where('id', '=', project.id).execute();
    const removed = await call('DELETE', `/team/members/${memberId}`, owner);
    expect([removed.status, removed.body.error.code]).toEqual([403, 'PROJECT_DISABLED']);
    expect((await call('DELETE', `/team/members/${memberId}`, member)).status).toBe(204);
    expect((await call('GET', '/auth/me', member)).status).toBe(401);
    expect(await listAuditedActions()).toEqual(['team.removed']);
  });

  it('users and invitations of another project return 404', async () => {
    const otherUser = await signIn(api, api.two);
    const otherUserId = await readUserId(otherUser);
    const { id } = (await invite('e@example.com')).body;
    expect((await call('DELETE', `/team/invitations/${id}`, otherUser)).status).toBe(404);
    expect((await call('PATCH', `/team/members/${otherUserId}`, owner, { role: 'MEMBER' })).status).toBe(404);
    expect((await call('DELETE', `/team/members/${otherUserId}`, owner)).status).toBe(404);
    expect(JSON.stringify((await call('GET', '/team', otherUser)).body)).not.toContain('e@example.com');
  });
});
