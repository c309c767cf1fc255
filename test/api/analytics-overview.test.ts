import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storePastEmailHours } from '../../db/events/email-hours.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { buildProject, startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const HOUR_MS = 3_600_000;
const getTimeHoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS);
const getOptionsOfProjectTwo = () => ({ key: api.two.secretKey });

/** Inserts a row of `events`. Its time and the time in its id are `at`. */
async function insertEvent(name: string, at: Date, emailId: string | null, projectId = api.one.id): Promise<void> {
  const hex = at.getTime().toString(16).padStart(12, '0');
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}${uuidv7().slice(13)}`;
  await api.db
    .insertInto('events')
    .values({ id, project_id: projectId, email_id: emailId, name, created_at: at })
    .execute();
}

describe('GET /analytics/overview', () => {
  it('counts live email by the day of the event, before and after the hourly totals are stored', async () => {
    const { id: projectId } = api.one;
    const live = await buildEmail(api.db, { projectId });
    const test = await buildEmail(api.db, { projectId, mode: 'test' });
    const simulated = await buildEmail(api.db, { projectId, to: 'open@simulator.test' });
    await sql`UPDATE emails SET simulated = true WHERE id = ${simulated}`.execute(api.db);
    const foreign = await buildEmail(api.db, { projectId: api.two.id });
    const [before, now] = [getTimeHoursAgo(50), getTimeHoursAgo(0)];
    for (const id of [live, test, simulated]) await insertEvent('email.sent', before, id);
    await insertEvent('email.open', before, live);
    await insertEvent('email.click', now, live);
    await insertEvent('email.delivery', now, test);
    await insertEvent('signup', before, null);
    await insertEvent('email.complaint', before, foreign, api.two.id);
    await sql`UPDATE mail_hours_until SET hour = ${Math.floor(getTimeHoursAgo(72).getTime() / HOUR_MS)}`.execute(
      api.db,
    );

    const counted = () => expectOk(api.call('GET', '/analytics/overview'));
    const first = await counted();
    // The provider of the test reports no deliveries, so a sent email without a bounce counts as delivered.
    expect(first.deliveredBasis).toBe('sent_minus_bounced');
    expect(first.totals).toEqual({ sent: 1, delivered: 1, opened: 1, clicked: 1, bounced: 0, complained: 0 });
    expect(first.rates).toMatchObject({ opened: 100, complained: 0 });
    expect(first.days).toHaveLength(31);
    const findDay = (at: Date) =>
      first.days.find(({ date }: { date: string }) => date === at.toISOString().slice(0, 10));
    expect(findDay(before)).toMatchObject({ sent: 1, opened: 1, clicked: 0 });
    expect(findDay(now)).toMatchObject({ sent: 0, clicked: 1 });

    await Promise.all([storePastEmailHours(api.db), storePastEmailHours(api.db)]);
    const { rows } = await sql<{ sent: number }>`SELECT sent FROM mail_hours WHERE project_id = ${projectId}`.execute(
      api.db,
    );
    expect(rows).toEqual([{ sent: 1 }]);
    expect(await counted()).toEqual(first);
    // The counts stay after their events are pruned.
    await sql`DELETE FROM events WHERE project_id = ${projectId} AND name = 'email.open'`.execute(api.db);
    expect(await counted()).toEqual(first);
    const { totals } = await expectOk(api.call('GET', '/analytics/overview', getOptionsOfProjectTwo()));
    expect(totals).toEqual({ sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 1 });
  });

  it("counts days in the project's time zone, and reads a date without a time as such a day", async () => {
    const { id: projectId } = api.two;
    await sql`UPDATE projects SET timezone = 'Asia/Kolkata' WHERE id = ${projectId}`.execute(api.db);
    const emailId = await buildEmail(api.db, { projectId });
    // Local times of the events: 23:30 on the fourth, 00:30 and 23:30 on the fifth.
    for (const at of ['2026-03-04T18:00:00Z', '2026-03-04T19:00:00Z', '2026-03-05T18:00:00Z'])
      await insertEvent('email.sent', new Date(at), emailId, projectId);
    await sql`UPDATE mail_hours_until SET hour = ${Date.parse('2026-03-01T00:00:00Z') / HOUR_MS}`.execute(api.db);
    const counted = (query: string) =>
      expectOk(api.call('GET', `/analytics/overview?${query}`, getOptionsOfProjectTwo()));
    const { timezone, days } = await counted('startDate=2026-03-04&endDate=2026-03-06');
    expect(timezone).toBe('Asia/Kolkata');
    expect(days.map(({ date, sent }: { date: string; sent: number }) => [date, sent])).toEqual([
      ['2026-03-04', 1],
      ['2026-03-05', 2],
      ['2026-03-06', 0],
    ]);
    const { totals, previous } = await counted('startDate=2026-03-05&endDate=2026-03-06');
    expect(totals.sent).toBe(2);
    expect(previous.days.map(({ date, sent }: { date: string; sent: number }) => [date, sent])).toEqual([
      ['2026-03-03', 0],
      ['2026-03-04', 1],
    ]);
    expect(previous.totals).toMatchObject({ sent: 1, delivered: 1 });
  });

  it('ends at midnight if the end is a time, not a date', async () => {
    const readDays = async (path: string, endDate: string) => {
      const body = await expectOk(api.call('GET', `${path}?startDate=2026-03-04&endDate=${endDate}`));
      return body.days ?? body;
    };
    const { id: projectId } = api.one;
    const emailId = await buildEmail(api.db, { projectId });
    await insertEvent('email.sent', new Date('2026-03-05T12:00:00Z'), emailId);
    await sql`UPDATE projects SET timezone = 'America/New_York' WHERE id = ${projectId}`.execute(api.db);
    const [byTime, byDate] = ['2026-03-05T00:00:00Z', '2026-03-05'];
    const isOn5th = ({ date }: { date: string }) => date === '2026-03-05';
    expect((await readDays('/analytics/timeseries', byTime)).find(isOn5th)).toMatchObject({ emails: 0 });
    expect((await readDays('/analytics/timeseries', byDate)).find(isOn5th)).toMatchObject({ emails: 1 });
    // In New York, it is still the fourth.
    expect((await readDays('/analytics/overview', byTime)).some(isOn5th)).toBe(false);
    expect((await readDays('/analytics/overview', byDate)).some(isOn5th)).toBe(true);
    await sql`UPDATE projects SET timezone = 'UTC' WHERE id = ${projectId}`.execute(api.db);
  });

  it('includes the days of the previous period, also if daylight saving time starts in between', async () => {
    await sql`UPDATE projects SET timezone = 'Europe/Berlin' WHERE id = ${api.two.id}`.execute(api.db);
    const { days, previous } = await expectOk(
      api.call('GET', '/analytics/overview?startDate=2026-03-29&endDate=2026-03-30', getOptionsOfProjectTwo()),
    );
    const listDates = (list: { date: string }[]) => list.map(({ date }) => date);
    expect([listDates(previous.days), listDates(days)]).toEqual([
      ['2026-03-27', '2026-03-28'],
      ['2026-03-29', '2026-03-30'],
    ]);
  });

  it('refuses a span longer than a year', async () => {
    const { status } = await api.call('GET', '/analytics/overview?startDate=2020-01-01&endDate=2026-01-01');
    expect(status).toBe(400);
  });
});

describe('GET /analytics/timeseries', () => {
  it('counts live email by UTC day, exactly also if the span starts and ends within an hour', async () => {
    const project = await buildProject(api.db, 'Timeseries');
    const emailId = await buildEmail(api.db, { projectId: project.id });
    const test = await buildEmail(api.db, { projectId: project.id, mode: 'test' });
    const at = (time: string) => new Date(`2026-03-10T${time}:00Z`);
    for (const time of ['10:10', '10:40', '13:20', '14:20', '14:40'])
      await insertEvent('email.sent', at(time), emailId, project.id);
    await insertEvent('email.open', at('13:20'), emailId, project.id);
    await insertEvent('email.sent', at('13:20'), test, project.id);
    const readDays = (query: string) =>
      expectOk(api.call('GET', `/analytics/timeseries?${query}`, { key: project.secretKey }));
    const within = 'startDate=2026-03-10T10:30:00Z&endDate=2026-03-10T14:30:00Z';
    const none = { emails: 0, delivered: 0, opens: 0, clicks: 0, bounces: 0, complaints: 0 };
    const expectCounts = async () => {
      expect(await readDays(within)).toEqual([{ date: '2026-03-10', ...none, emails: 3, opens: 1 }]);
      expect(await readDays('startDate=2026-03-10&endDate=2026-03-11')).toEqual([
        { date: '2026-03-10', ...none, emails: 5, opens: 1 },
        { date: '2026-03-11', ...none },
      ]);
      const minutes = await readDays('startDate=2026-03-10T10:30:00Z&endDate=2026-03-10T10:45:00Z');
      expect(minutes).toMatchObject([{ emails: 1 }]);
    };
    await sql`UPDATE mail_hours_until SET hour = ${at('09:00').getTime() / HOUR_MS}`.execute(api.db);
    await expectCounts();
    let hours = 0;
    await storePastEmailHours(api.db, () => ++hours < 5);
    await expectCounts();
    // A stored hour is not counted again.
    await sql`DELETE FROM events WHERE project_id = ${project.id} AND created_at = ${at('13:20')} AND name = 'email.sent'`.execute(
      api.db,
    );
    await expectCounts();
  });
});

describe('GET /analytics/attention', () => {
  it("lists items that need attention, most urgent first, without another project's items", async () => {
    const { id: projectId } = api.one;
    expect((await expectOk(api.call('GET', '/analytics/attention'))).data).toEqual([]);
    await sql`UPDATE projects SET held_at = now(), hold_reason = 'too many bounces' WHERE id = ${projectId}`.execute(
      api.db,
    );
    await buildDomain(api.db, { projectId, domain: 'gone.example.com' });
    await sql`UPDATE domains SET found = jsonb_build_object('missingSince', now()) WHERE project_id = ${projectId}`.execute(
      api.db,
    );
    const workflow = await buildWorkflow(api, { steps: { end: { type: 'EXIT' } } });
    const contactId = await buildContact(api.db, { projectId });
    const run = { project_id: projectId, workflow_id: workflow.id, contact_id: contactId, status: 'FAILED' as const };
    const ended = { completed_at: new Date(), error: 'loop' };
    await api.db
      .insertInto('executions')
      .values([
        { ...run, ...ended, entry: 1 },
        { ...run, ...ended, entry: 2 },
        { ...run, ...ended, entry: null, sandbox: true },
        { ...run, ...ended, entry: 3, completed_at: getTimeHoursAgo(24 * 30) },
      ])
      .execute();
    await api.db
      .insertInto('webhook_endpoints')
      .values({
        project_id: projectId,
        url: 'https://hooks.example.com',
        events: ['*'],
        secret: 'sealed',
        status: 'DISABLED',
        disabled_reason: 'failing',
      })
      .execute();
    // A user disabled this endpoint on purpose, so it needs no attention.
    const chosen = { url: 'https://chosen.example.com', status: 'DISABLED' as const, disabled_reason: 'manual' };
    await api.db
      .insertInto('webhook_endpoints')
      .values({ ...chosen, project_id: projectId, events: ['*'], secret: 'sealed' })
      .execute();
    const late = getTimeHoursAgo(1);
    const hex = late.getTime().toString(16).padStart(12, '0');
    await sql`
      INSERT INTO outbox (id, project_id, kind, ref_id, priority, created_at, available_at)
      VALUES (${`${hex.slice(0, 8)}-${hex.slice(8)}${uuidv7().slice(13)}`}, ${projectId}, 'job.start', ${uuidv7()}, 4, ${late}, ${late})
    `.execute(api.db);

    const { data } = await expectOk(api.call('GET', '/analytics/attention'));
    expect(data).toMatchObject([
      { kind: 'project_held', id: null, detail: 'too many bounces', count: 1 },
      { kind: 'domain_broken', name: 'gone.example.com' },
      { kind: 'outbox_late', since: late.toISOString(), count: 1 },
      { kind: 'executions_failed', id: workflow.id, name: 'Test', count: 2, detail: 'loop' },
      { kind: 'endpoint_disabled', name: 'https://hooks.example.com', detail: 'failing' },
    ]);
    expect((await expectOk(api.call('GET', '/analytics/attention', getOptionsOfProjectTwo()))).data).toEqual([]);
  });

  it('omits items that the key’s scopes do not allow', async () => {
    const owner = await signIn(api, api.one);
    const body = { name: 'figures', scopes: ['analytics:view'], mode: 'live' };
    const { key } = await expectOk(api.call('POST', '/apikeys', { key: null, headers: owner, body }));
    const { data } = await expectOk(api.call('GET', '/analytics/attention', { key }));
    expect(data.map(({ kind }: { kind: string }) => kind)).toEqual(['project_held', 'outbox_late']);
  });
});

describe('GET /analytics/upcoming', () => {
  it('counts scheduled campaigns, and pauses of executions that end, by hour', async () => {
    const { id: projectId } = api.one;
    const inThree = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 3 * HOUR_MS;
    const seconds = [inThree / 1000 + 5, inThree / 1000 + 6, inThree / 1000 + 100 * 3600];
    for (const second of seconds)
      await api.db.insertInto('timer_seconds').values({ project_id: projectId, second, booked: 20 }).execute();
    const { data } = await expectOk(
      api.call('POST', '/campaigns', { body: createCampaignBody({ from: 'news@gone.example.com' }) }),
    );
    await sql`
      UPDATE campaigns SET status = 'SCHEDULED', scheduled_at = ${new Date(inThree + 60_000)} WHERE id = ${data.id}
    `.execute(api.db);
    await sql`UPDATE projects SET send_rate_per_second = 18 WHERE id = ${projectId}`.execute(api.db);
    const { hours, campaigns, sendRatePerSecond } = await expectOk(api.call('GET', '/analytics/upcoming?hours=24'));
    expect(sendRatePerSecond).toBe(18);
    expect(hours).toHaveLength(24);
    expect(hours[3]).toEqual({
      at: new Date(inThree).toISOString(),
      campaigns: 1,
      delays: 40,
      lastDelayAt: new Date(inThree + 6_000).toISOString(),
    });
    expect(hours[4]).toMatchObject({ campaigns: 0, delays: 0, lastDelayAt: null });
    expect(campaigns).toMatchObject([{ id: data.id, scheduledAt: new Date(inThree + 60_000).toISOString() }]);
    const other = await expectOk(api.call('GET', '/analytics/upcoming?hours=24', getOptionsOfProjectTwo()));
    expect(other.campaigns).toEqual([]);
    expect(other.sendRatePerSecond).toBeNull();
    expect(other.hours.every(({ delays }: { delays: number }) => delays === 0)).toBe(true);
  });
});

describe('GET /project/checklist', () => {
  it('marks each first step of a project as done once the project has done it', async () => {
    const headers = await signIn(api, api.two, 'MEMBER');
    const readChecklist = async () => {
      const { items, done } = await expectOk(api.call('GET', '/project/checklist', { key: null, headers }));
      return {
        done,
        ticked: items.filter((item: { done: boolean }) => item.done).map(({ key }: { key: string }) => key),
      };
    };
    await sql`DELETE FROM events WHERE project_id = ${api.two.id}`.execute(api.db);
    expect(await readChecklist()).toEqual({ done: false, ticked: [] });
    await track(
      { ...api, call: (method, path, options) => api.call(method, path, { ...options, ...getOptionsOfProjectTwo() }) },
      'a@example.com',
      'signup',
    );
    expect(await readChecklist()).toEqual({ done: false, ticked: ['contact', 'event'] });
    await buildDomain(api.db, { projectId: api.two.id, domain: 'two.example.com' });
    await buildTemplate(api.db, { projectId: api.two.id });
    await sql`UPDATE emails SET sent_at = now() WHERE project_id = ${api.two.id}`.execute(api.db);
    await api.db.insertInto('workflows').values({ project_id: api.two.id, name: 'w', enabled: true }).execute();
    expect(await readChecklist()).toEqual({
      done: true,
      ticked: ['domain', 'contact', 'template', 'mail', 'event', 'automation'],
    });
  });
});
