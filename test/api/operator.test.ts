import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endRound, recordPeriodicError, startRound } from '../../db/operator/periodic-work.ts';
import { startHeartbeat } from '../../db/operator/processes.ts';
import { countOutcomesSql } from '../../db/sending/hold-guard.ts';
import { listRoutePauses, pauseRoute } from '../../db/sending/route-pauses.ts';
import { buildEmail } from '../build/emails.ts';
import { startTestApi, type TestApi, type TestProject } from '../support/api.ts';
import { signIn } from '../support/session.ts';
import { until } from '../support/until.ts';

const OPERATOR = 'ops@installation.test';

let api: TestApi;
let operator: Record<string, string>;
let owner: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi({ OPERATORS: ` Ops@Installation.test, other@installation.test` });
  operator = await signUp(OPERATOR, 'the operator’s password');
  owner = await signIn(api, api.two);
});
afterAll(() => api.close());

async function signUp(email: string, password: string): Promise<Record<string, string>> {
  const body = { email, password, projectName: 'Own' };
  const { status, headers } = await api.call('POST', '/auth/signup', { key: null, body });
  expect(status).toBe(201);
  return { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

const callAsOperator = (method: string, path: string, body?: object, headers = operator) =>
  api.call(method, path, { key: null, headers, ...(body && { body }) });
const recordOutcomes = (project: TestProject, emails: number, dead: number, complaints: number) =>
  countOutcomesSql(
    sql`SELECT ${project.id}::uuid AS project_id, ${emails}::int AS mails, ${dead}::int AS dead, ${complaints}::int AS complaints`,
  ).execute(api.db);
const listTenants = async (query = '') =>
  (await callAsOperator('GET', `/operator/projects${query}`)).body.data as {
    id: string;
    name: string;
    mails: number;
  }[];

describe('the role of operator', () => {
  it('is visible to operators only', async () => {
    expect((await callAsOperator('GET', '/auth/me')).body.operator).toBe(true);
    expect((await callAsOperator('GET', '/auth/me', undefined, owner)).body.operator).toBe(false);
  });

  it('belongs to the oldest account of an address: a later sign-up with the address does not get it', async () => {
    const later = await signUp(OPERATOR, 'the password of somebody else');
    expect((await callAsOperator('GET', '/auth/me', undefined, later)).body.operator).toBe(false);
    expect((await callAsOperator('GET', '/operator/health', undefined, later)).status).toBe(404);
    expect((await callAsOperator('GET', '/operator/health')).status).toBe(200);
  });

  it('returns 404 to everyone else, also to an owner for their own project', async () => {
    const own = `/operator/projects/${api.two.id}`;
    const responses = await Promise.all([
      ...['/operator/health', '/operator/projects', '/operator/provider-answers', own].map((path) =>
        callAsOperator('GET', path, undefined, owner),
      ),
      callAsOperator('PATCH', own, { monthlyEmailLimit: null }, owner),
      callAsOperator('POST', `${own}/hold`, { reason: 'no' }, owner),
      callAsOperator('POST', `${own}/release`, {}, owner),
      callAsOperator('POST', '/operator/sending/resume', {}, owner),
    ]);
    expect(responses.map(({ status, body }) => [status, body.error?.code])).toEqual(
      responses.map(() => [404, 'NOT_FOUND']),
    );
    expect((await api.call('GET', '/operator/health')).status).toBe(401);
  });
});

describe('a paused route', () => {
  const REFUSAL = {
    route: 'smtp.relay.test',
    refusal: 'login',
    stage: 'auth' as const,
    reply: '535 5.7.8 Authentication failed',
    senderHost: 'shop.test',
    emailId: null,
    nextProbeAt: new Date('2027-01-01T12:00:00.000Z'),
  };
  const listPauses = async (headers = operator) => callAsOperator('GET', '/operator/route-pauses', undefined, headers);

  it('is listed with its project, and sends email again once an operator resumes it', async () => {
    await pauseRoute(api.db, { ...REFUSAL, projectIds: [api.one.id] });
    const { body } = await listPauses();
    expect(body.data).toMatchObject([
      {
        projectId: api.one.id,
        projectName: 'One',
        stage: 'auth',
        reply: REFUSAL.reply,
        nextProbeAt: '2027-01-01T12:00:00.000Z',
      },
    ]);
    const path = `/operator/route-pauses/${body.data[0].id}/resume`;
    expect((await callAsOperator('POST', path, {}, owner)).status).toBe(404);
    expect((await listPauses()).body.data).toHaveLength(1);
    expect(await callAsOperator('POST', path, {})).toMatchObject({ status: 200, body: { data: [] } });
    expect(await listRoutePauses(api.db, REFUSAL.route)).toEqual([]);
    expect((await callAsOperator('POST', path, {})).body.error).toMatchObject({
      code: 'NOT_FOUND',
      message: 'This route is not paused.',
    });
  });
});

describe('a clone of an installation', () => {
  const readHold = async () => (await callAsOperator('GET', '/operator/health')).body.installation.sendingHold;

  it('sends nothing until an operator resumes it and its recovery has ended', async () => {
    expect(await readHold()).toBeNull();
    await sql`UPDATE installation SET sending_hold = 'new', sending_held_at = now(), recovery_since = now()`.execute(
      api.db,
    );
    expect(await readHold()).toEqual({ reason: 'new', since: expect.any(String) });
    const { status, body } = await callAsOperator('POST', '/operator/sending/resume');
    expect([status, body.sendingHold]).toMatchObject([200, { reason: 'recovery' }]);
    await sql`UPDATE installation SET recovery_since = NULL`.execute(api.db);
    expect((await callAsOperator('POST', '/operator/sending/resume')).body).toEqual({ sendingHold: null });
    expect(await readHold()).toBeNull();
  });
});

describe('the operator’s list of tenants', () => {
  it('has all projects, newest first, page by page', async () => {
    const all = await listTenants();
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([api.one.id, api.two.id]));
    const first = (await callAsOperator('GET', '/operator/projects?limit=2')).body;
    expect([first.data.length, first.hasMore, first.total]).toEqual([2, true, all.length]);
    const second = (await callAsOperator('GET', `/operator/projects?limit=2&cursor=${first.cursor}`)).body;
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all.slice(0, 4).map(({ id }) => id));
  });

  it('finds tenants by name, owner and id, and treats wildcards as text', async () => {
    const [found] = await listTenants('?search=ops%40installation');
    expect(found).toMatchObject({ name: 'Own', owners: [OPERATOR] });
    expect((await listTenants('?search=tWo')).map(({ id }) => id)).toEqual([api.two.id]);
    expect((await listTenants(`?search=${api.one.id}`)).map(({ name }) => name)).toEqual(['One']);
    expect(await listTenants('?search=%25')).toEqual([]);
    expect((await callAsOperator('GET', '/operator/projects?search=%00')).status).toBe(400);
  });

  it('shows the counts of emails, bounces and complaints, and can be sorted by them', async () => {
    await recordOutcomes(api.one, 1_000, 20, 1);
    await recordOutcomes(api.two, 400, 12, 3);
    const listTopNames = async (order: string) =>
      (await listTenants(`?order=${order}&limit=2`)).map(({ name }) => name);
    expect(await listTopNames('mails')).toEqual(['One', 'Two']);
    expect(await listTopNames('bounces')).toEqual(['Two', 'One']);
    expect(await listTopNames('complaints')).toEqual(['Two', 'One']);
    const { body } = await callAsOperator('GET', `/operator/projects/${api.two.id}`);
    expect(body).toMatchObject({ name: 'Two', mails: 400, dead: 12, complaints: 3 });
    expect(body.hours).toEqual([{ hour: expect.any(String), mails: 400, dead: 12, complaints: 3 }]);
    expect((await callAsOperator('GET', '/operator/projects/01900000-0000-7000-8000-000000000000')).status).toBe(404);
  });
});

describe('the last month of a tenant', () => {
  it('is the sum of 30 days, by day for one project, and the list can be sorted by it', async () => {
    const hour = Math.floor(Date.now() / 3_600_000);
    const row = { delivered: 0, opened: 0, clicked: 0 };
    const values = [
      { ...row, project_id: api.one.id, hour: hour - 48, sent: 5_000, bounced: 5, complained: 1 },
      { ...row, project_id: api.two.id, hour: hour - 24 * 20, sent: 900, bounced: 90, complained: 0 },
      { ...row, project_id: api.two.id, hour: hour - 24 * 40, sent: 90_000, bounced: 0, complained: 0 },
    ];
    await sql`DELETE FROM mail_hours`.execute(api.db);
    await api.db.insertInto('mail_hours').values(values).execute();
    const listTopNames = async (order: string) =>
      (await listTenants(`?order=${order}&over=month&limit=2`)).map(({ name }) => name);
    expect(await listTopNames('mails')).toEqual(['One', 'Two']);
    expect(await listTopNames('bounces')).toEqual(['Two', 'One']);
    const { body } = await callAsOperator('GET', `/operator/projects/${api.two.id}`);
    expect(body.month).toEqual({ sent: 900, bounced: 90, complained: 0 });
    expect(body.days).toHaveLength(30);
    expect(body.days.filter(({ sent }: { sent: number }) => sent > 0)).toMatchObject([{ sent: 900, bounced: 90 }]);
    expect((await callAsOperator('GET', '/operator/projects?over=year')).status).toBe(400);
  });
});

describe('a hold of the operator', () => {
  it('has a reason that the project sees, and ends with a note; both are in the project’s audit log', async () => {
    const path = `/operator/projects/${api.one.id}`;
    expect((await callAsOperator('POST', `${path}/hold`, {})).status).toBe(422);
    const held = await callAsOperator('POST', `${path}/hold`, { reason: 'bought list' });
    expect(held.body).toMatchObject({ operatorHold: { held: true, reason: 'bought list' }, ownHold: { held: false } });
    expect((await listTenants('?held=true')).map(({ id }) => id)).toEqual([api.one.id]);
    expect((await listTenants('?held=false')).map(({ id }) => id)).not.toContain(api.one.id);
    const person = await signIn(api, api.one);
    expect((await callAsOperator('GET', '/project', undefined, person)).body.hold.reason).toBe('bought list');
    expect((await callAsOperator('POST', '/project/release', undefined, person)).status).toBe(403);

    const before = api.dispatched.length;
    const released = await callAsOperator('POST', `${path}/release`, { note: 'list removed' });
    expect(released.body.operatorHold).toEqual({ held: false, since: null, reason: null });
    expect(api.dispatched.slice(before).map(({ kind, projectId }) => [kind, projectId])).toContainEqual([
      'hold.release',
      api.one.id,
    ]);
    const { actions } = (await callAsOperator('GET', path)).body;
    expect(actions.slice(0, 2)).toMatchObject([
      {
        action: 'project.released',
        actor: `operator:${OPERATOR}`,
        actorName: OPERATOR,
        details: { note: 'list removed' },
      },
      { action: 'project.held', actor: `operator:${OPERATOR}`, details: { reason: 'bought list' } },
    ]);
    const log = (await callAsOperator('GET', '/audit-log', undefined, person)).body.data;
    expect(log[0]).toMatchObject({ action: 'project.released', details: { note: 'list removed' } });
  });

  it('does not release the project’s own hold', async () => {
    const person = await signIn(api, api.two);
    await callAsOperator('POST', '/project/hold', { reason: 'ours' }, person);
    const path = `/operator/projects/${api.two.id}`;
    await callAsOperator('POST', `${path}/hold`, { reason: 'theirs' });
    expect((await callAsOperator('POST', `${path}/release`, {})).body).toMatchObject({
      operatorHold: { held: false },
      ownHold: { held: true, reason: 'ours' },
    });
    await callAsOperator('POST', '/project/release', undefined, person);
    const { email } = (await callAsOperator('GET', '/auth/me', undefined, person)).body.user;
    expect((await callAsOperator('GET', path)).body.actions[0]).toMatchObject({
      action: 'project.released',
      actorName: email,
    });
  });
});

describe('limits of the operator', () => {
  it('are set and removed one by one, and apply to the project', async () => {
    const path = `/operator/projects/${api.two.id}`;
    const set = await callAsOperator('PATCH', path, { monthlyEmailLimit: 5, bounceGuard: 0.01 });
    expect(set.body.operatorLimits).toEqual({
      monthlyEmailLimit: 5,
      bounceGuard: 0.01,
      sendRatePerSecond: null,
      complaintGuard: null,
    });
    const withoutGuard = await callAsOperator('PATCH', path, { bounceGuard: null });
    expect(withoutGuard.body).toMatchObject({ operatorLimits: { monthlyEmailLimit: 5, bounceGuard: null } });
    expect((await callAsOperator('GET', '/project', undefined, owner)).body.monthlyEmailLimit).toBe(5);
    expect((await callAsOperator('PATCH', '/project', { monthlyEmailLimit: 6 }, owner)).status).toBe(422);
    expect((await callAsOperator('PATCH', path, { bounceGuard: 2 })).status).toBe(422);
    await callAsOperator('PATCH', path, { monthlyEmailLimit: null });
  });
});

describe('the health of the installation', () => {
  it('names Postgres, Temporal, the outbox and the running processes', async () => {
    const release = { version: '1.2.3', build: 'abc' };
    const beat = startHeartbeat(api.db, { kind: 'worker', release, log: { debug: () => {} } });
    const readHealth = async () => (await callAsOperator('GET', '/operator/health')).body;
    await until(async () => (await readHealth()).processes.length > 0, 'the heartbeat');
    await api.db
      .insertInto('outbox')
      .values({ project_id: api.one.id, kind: 'email.retry', ref_id: api.one.id, last_error: 'Temporal was away' })
      .execute();
    const { postgres, temporal, outbox, processes } = await readHealth();
    expect(postgres.version).toMatch(/^\d+/);
    expect([postgres.connections > 0, postgres.databaseBytes > 0]).toEqual([true, true]);
    expect(temporal).toEqual({ reached: true, pingMs: expect.any(Number), queues: [] });
    expect(outbox).toContainEqual({
      kind: 'email.retry',
      waiting: 1,
      handedOver: 0,
      oldestSeconds: expect.any(Number),
      projects: 1,
      failing: 1,
      lastError: 'Temporal was away',
    });
    expect(processes).toEqual([
      expect.objectContaining({ kind: 'worker', pid: process.pid, version: '1.2.3', build: 'abc', alive: true }),
    ]);
    await api.db.updateTable('processes').set({ seen_at: sql`now() - interval '1 minute'` }).execute();
    expect((await readHealth()).processes[0].alive).toBe(false);
    await beat.stop();
    expect((await readHealth()).processes).toEqual([]);
  });
});

describe('replies of providers', () => {
  it('are counted by code over all projects, with an example and the domains', async () => {
    const setError = async (
      project: TestProject,
      to: string,
      error: string,
      status: 'FAILED' | 'BOUNCED' | 'PENDING',
    ) => {
      const id = await buildEmail(api.db, { projectId: project.id, to, status });
      await api.db.updateTable('emails').set({ error }).where('id', '=', id).execute();
    };
    await setError(api.one, 'a@full.example', '550 5.1.1 No such user a', 'FAILED');
    await setError(api.two, 'b@full.example', '550 5.1.1 No such user b', 'BOUNCED');
    await setError(api.two, 'c@other.example', '550 5.1.1 Unknown', 'FAILED');
    await setError(api.one, 'd@slow.example', '421 Try later', 'PENDING');
    await setError(api.one, 'e@ses.example', 'MessageRejected: Address is not verified', 'FAILED');
    const { body } = await callAsOperator('GET', '/operator/provider-answers');
    expect([body.provider, body.looked >= 5, body.snsTopics]).toEqual(['capture', true, []]);
    expect(body.answers[0]).toEqual({
      code: '550 5.1.1',
      mails: 3,
      projects: 2,
      failed: 2,
      bounced: 1,
      waiting: 0,
      newestAt: expect.any(String),
      example: '550 5.1.1 Unknown',
      domains: [
        { domain: 'full.example', mails: 2 },
        { domain: 'other.example', mails: 1 },
      ],
    });
    expect(body.answers.map(({ code }: { code: string }) => code)).toEqual(['550 5.1.1', '421', 'MessageRejected']);
    expect(body.answers[1].waiting).toBe(1);
    expect((await callAsOperator('GET', '/operator/provider-answers?hours=0')).status).toBe(400);
  });
});

describe('periodic work', () => {
  const findWork = async (kind: string) =>
    (await callAsOperator('GET', '/operator/health')).body.periodicWork.find(
      (work: { kind: string }) => work.kind === kind,
    );
  const readAttention = async (headers?: Record<string, string>) =>
    (await callAsOperator('GET', '/v1/analytics/attention', undefined, headers)).body.data.filter(
      ({ kind }: { kind: string }) => kind === 'periodic_work_late',
    );

  it('lists the last end, duration, backlog and last error of each kind', async () => {
    const { since } = await startRound(api.db, 'pruning');
    expect(await findWork('pruning')).toMatchObject({ running: true, lastEndedAt: null, lastDurationSeconds: null });
    await recordPeriodicError(api.db, { kind: 'pruning', error: 'sessions: canceling statement due to lock timeout' });
    await endRound(api.db, { kind: 'pruning', since, unfinished: 2, failing: ['sessions'], resumeAfter: null });
    expect(await findWork('pruning')).toEqual({
      kind: 'pruning',
      everyMinutes: 60,
      running: false,
      lastStartedAt: since.toISOString(),
      lastEndedAt: expect.any(String),
      lastDurationSeconds: expect.any(Number),
      backlog: 2,
      failing: ['sessions'],
      lastError: 'sessions: canceling statement due to lock timeout',
      lastErrorAt: expect.any(String),
      late: false,
    });
  });

  it('is no longer running one period after the start of a round that an operator terminated', async () => {
    await startRound(api.db, 'recovery');
    expect(await findWork('recovery')).toMatchObject({ everyMinutes: 5, running: true });
    await sql`
      UPDATE periodic_work SET began_at = now() - interval '5 minutes' WHERE kind = 'recovery'
    `.execute(api.db);
    expect(await findWork('recovery')).toMatchObject({ running: false, lastEndedAt: null });
  });

  it('counts tracked segments that were not computed for two periods as backlog', async () => {
    await sql`
      INSERT INTO segments (project_id, name, slug, type, condition, track_membership, computed_at)
      VALUES (${api.one.id}, 'Late', 'late', 'DYNAMIC', '{}', true, now() - interval '11 minutes'),
        (${api.one.id}, 'Young', 'young', 'DYNAMIC', '{}', true, now() - interval '9 minutes')
    `.execute(api.db);
    expect((await findWork('segments')).backlog).toBe(1);
  });

  it('is shown to operators only if it has not ended for three periods', async () => {
    await sql`UPDATE periodic_work SET ended_at = now()`.execute(api.db);
    expect(await readAttention()).toEqual([]);
    await sql`
      UPDATE periodic_work SET ended_at = now() - interval '16 minutes', last_error = 'no worker'
      WHERE kind IN ('recovery', 'pruning')
    `.execute(api.db);
    expect(await readAttention()).toMatchObject([{ name: 'recovery', id: null, count: 1, detail: 'no worker' }]);
    expect(await readAttention(owner)).toEqual([]);
    expect([(await findWork('recovery')).late, (await findWork('pruning')).late]).toEqual([true, false]);
  });
});
