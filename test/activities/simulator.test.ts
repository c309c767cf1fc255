import { sql } from 'kysely';
import nodemailer from 'nodemailer';
import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createSimulatedFeedback } from '../../activities/emails/simulated-feedback.ts';
import { findFreePort } from '../../cli/start/ports.ts';
import { toBouncedReason } from '../../rules/emails/reasons.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow } from '../build/workflows.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let sink: SmtpSink;
let project: TestProject;
let relayPort: number;
let delayedEmails: Promise<DelayedEmails>;

beforeAll(async () => {
  sink = await startSmtpSink({});
  relayPort = await findFreePort();
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, SMTP_RELAY_PORT: String(relayPort) });
  delayedEmails = sendDelayedEmails(await createProject());
  // The tests that await the promise report its failure.
  delayedEmails.catch(() => undefined);
});
beforeEach(async () => {
  project = await createProject();
});
afterAll(async () => {
  expect(sink.messages.filter(({ to }) => to.endsWith('@simulator.test'))).toEqual([]);
  await service?.close();
  await sink?.close();
});

async function createProject(): Promise<TestProject> {
  const created = await buildProject(service.db, 'Simulated');
  await buildDomain(service.db, { projectId: created.id, domain: 'sender.test', signing: false });
  return created;
}

const callAs = ({ secretKey: key }: TestProject, method: string, path: string, body?: unknown) =>
  service.call(method, path, { key, ...(body !== undefined && { body }) });
const call = (method: string, path: string, body?: unknown) => callAs(project, method, path, body);

async function send(
  to: string,
  body = '<p>Hello, <a href="https://example.com/offer">look</a></p>',
  by = project,
): Promise<string> {
  const email = { to, from: 'news@sender.test', subject: 'Hello', body, subscribed: true };
  const response = await callAs(by, 'POST', '/v1/send', email);
  expect(response.status).toBe(200);
  return response.body.data.emails[0].email;
}

/** Returns the email as soon as it has this status. */
async function waitForEnd(id: string, status: string, by = project) {
  return until(async () => {
    const { body } = await callAs(by, 'GET', `/v1/emails/${id}`);
    return body.data.status === status ? body.data : undefined;
  }, `${id} ${status}`);
}

/** The emails to `slow@` and `defer@`, whose feedback is delayed. */
interface DelayedEmails {
  slow: { sentAt: string; deliveredAt: string };
  /** The email to `defer@` after its first attempt; `deferred` is the same email after its last attempt. */
  firstAttempt: { attempts: number; error: string | null };
  deferred: { attempts: number };
}

/** Sends these emails and waits for their end, while other tests run. */
async function sendDelayedEmails(by: TestProject): Promise<DelayedEmails> {
  const slowId = await send('slow@simulator.test', undefined, by);
  const deferredId = await send('defer@simulator.test', undefined, by);
  const readAttempts = (id: string) =>
    service.db.selectFrom('emails').select(['attempts', 'error']).where('id', '=', id).executeTakeFirstOrThrow();
  const firstAttempt = await until(async () => {
    const row = await readAttempts(deferredId);
    return row.error !== null && row;
  }, 'the first attempt to be deferred');
  const slow = await waitForEnd(slowId, 'DELIVERED', by);
  await waitForEnd(deferredId, 'DELIVERED', by);
  return { slow, firstAttempt, deferred: await readAttempts(deferredId) };
}

async function findContact(email: string) {
  const { body } = await call('GET', `/contacts?search=${encodeURIComponent(email)}`);
  return body.data[0];
}

async function findSuppressions(email: string) {
  const { body } = await call('GET', '/suppressions?limit=100');
  return body.data.filter((entry: { email: string }) => entry.email === email);
}

async function listEventNames(emailId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM events WHERE project_id = ${project.id} AND email_id = ${emailId} ORDER BY id`.execute(service.db);
  return rows.map(({ name }) => name);
}

describe('email to an address of the simulator', () => {
  it('delivered@ makes the email DELIVERED and shows it in the mailbox, without sending it', async () => {
    const id = await send('delivered+a@simulator.test');
    await waitForEnd(id, 'DELIVERED');
    expect(await listEventNames(id)).toEqual(['email.sent', 'email.delivery']);
    const { body } = await service.call('GET', '/mailbox.json?to=delivered%2Ba@simulator.test', { key: null });
    expect(body.data).toMatchObject([{ id, subject: 'Hello', from: 'news@sender.test' }]);
  });

  it('bounce@ suppresses and unsubscribes as any bounce does, and the next email is not sent', async () => {
    const to = 'bounce+1@simulator.test';
    const id = await send(to);
    await waitForEnd(id, 'BOUNCED');
    expect(await listEventNames(id)).toEqual(['email.sent', 'email.bounce']);
    expect(await findSuppressions(to)).toMatchObject([{ reason: 'hard_bounce', source: 'simulator' }]);
    expect((await findContact(to)).subscribed).toBe(false);
    const again = await send(to);
    expect(await waitForEnd(again, 'FAILED')).toMatchObject({ reason: 'suppressed:hard_bounce' });
  });

  it('softbounce@ makes the email BOUNCED and changes no contact', async () => {
    const to = 'softbounce@simulator.test';
    const id = await send(to);
    await waitForEnd(id, 'BOUNCED');
    const row = await service.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect([row.bounce_type, row.reason]).toEqual(['Transient', toBouncedReason('mailbox_for_now')]);
    expect((await findContact(to)).subscribed).toBe(true);
    expect(await findSuppressions(to)).toEqual([]);
  });

  it('complaint@ delivers the email, and unsubscribes its contact because of a complaint', async () => {
    const to = 'complaint+x@simulator.test';
    const id = await send(to);
    await waitForEnd(id, 'COMPLAINED');
    expect(await listEventNames(id)).toEqual(
      expect.arrayContaining(['email.sent', 'email.delivery', 'email.complaint']),
    );
    expect(await findSuppressions(to)).toMatchObject([{ reason: 'complaint' }]);
    expect((await findContact(to)).subscribed).toBe(false);
  });

  it('counts opens and clicks as made by humans, and records the clicked link', async () => {
    const opened = await send('open@simulator.test');
    const clicked = await send('click@simulator.test');
    const bare = await send('click+bare@simulator.test', '<p>No link</p>');
    await waitForEnd(opened, 'OPENED');
    await waitForEnd(clicked, 'CLICKED');
    await waitForEnd(bare, 'CLICKED');
    expect(await listEventNames(clicked)).toEqual(['email.sent', 'email.delivery', 'email.open', 'email.click']);
    const { rows } = await sql<{ data: Record<string, unknown> }>`
      SELECT data FROM events WHERE email_id = ${clicked} AND name = 'email.click'`.execute(service.db);
    expect(rows[0]?.data).toMatchObject({ link: 'https://example.com/offer', clicks: 1, isFirstClick: true });
  });

  it('reject@ refuses the message: the email fails, and the contact does not change', async () => {
    const to = 'reject+1@simulator.test';
    const id = await send(to);
    const email = await waitForEnd(id, 'FAILED');
    expect(email).toMatchObject({ sentAt: null, reason: 'provider_rejected' });
    expect(await listEventNames(id)).toEqual([]);
    expect(await findSuppressions(to)).toEqual([]);
    expect((await findContact(to)).subscribed).toBe(true);
  });

  it('records no open if tracking is off', async () => {
    await service.db.updateTable('projects').set({ tracking: 'DISABLED' }).where('id', '=', project.id).execute();
    const id = await send('open+untracked@simulator.test');
    await waitForEnd(id, 'DELIVERED');
    await until(async () => !(await hasPendingFeedback()), 'the end of the feedback');
    expect(await listEventNames(id)).toEqual(['email.sent', 'email.delivery']);
  });
});

async function hasPendingFeedback(): Promise<boolean> {
  const rows = await service.db
    .selectFrom('outbox')
    .select('id')
    .where('project_id', '=', project.id)
    .where('kind', '=', 'email.simulated')
    .execute();
  return rows.length > 0;
}

it('the simulator gives emails of automations and of the SMTP relay the same results', async () => {
  await sql`UPDATE projects SET monthly_email_limit = 0 WHERE id = ${project.id}`.execute(service.db);
  const templateId = await buildTemplate(service.db, { projectId: project.id, from: 'news@sender.test' });
  const steps = { mail: { type: 'SEND_EMAIL' as const, config: { templateId } } };
  await buildWorkflow({ call: (method, path, options) => call(method, path, options?.body) }, { steps });
  const tracked = await call('POST', '/v1/track', { email: 'bounce+flow@simulator.test', event: 'signup' });
  expect(tracked.status).toBe(200);
  const relay = nodemailer.createTransport({
    host: '127.0.0.1',
    port: relayPort,
    secure: false,
    ignoreTLS: true,
    auth: { user: 'apikey', pass: project.secretKey },
  });
  const email = { from: 'news@sender.test', to: 'complaint+relay@simulator.test', subject: 'Hi', text: 'Hello' };
  await relay.sendMail(email);
  await until(async () => {
    const { body } = await call('GET', '/v1/emails');
    const ended = body.data.map((one: { to: string; status: string }) => `${one.to} ${one.status}`);
    return (
      ended.includes('bounce+flow@simulator.test BOUNCED') &&
      ended.includes('complaint+relay@simulator.test COMPLAINED')
    );
  }, 'the feedback to both');
});

describe('a campaign to addresses of the simulator', () => {
  /** Sends a campaign to all contacts. Returns its id when it is SENT and all feedback has arrived. */
  async function runCampaign(): Promise<string> {
    const { body } = await call('POST', '/campaigns', createCampaignBody());
    await call('POST', `/campaigns/${body.data.id}/send`, {});
    await until(async () => (await call('GET', `/campaigns/${body.data.id}`)).body.status === 'SENT', 'SENT');
    await until(async () => !(await hasPendingFeedback()), 'all feedback');
    return body.data.id;
  }

  it('counts in the campaign’s stats, but not in guards, rates, limits or analytics', async () => {
    await sql`UPDATE projects SET monthly_email_limit = 5, send_rate_per_second = 1 WHERE id = ${project.id}`.execute(
      service.db,
    );
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${project.id}, what || '+' || n || '@simulator.test', true, '{}'
      FROM unnest(ARRAY['delivered', 'bounce', 'complaint', 'click', 'reject']) AS what, generate_series(1, 50) AS n
    `.execute(service.db);
    await buildContact(service.db, { projectId: project.id, email: 'real@to.test' });
    const id = await runCampaign();
    const { body: stats } = await call('GET', `/campaigns/${id}/stats`);
    expect(stats).toMatchObject({ total: 251, bounced: 50, failed: 50, complained: 50, clicked: 50 });
    const { body: health } = await service.call('GET', '/health', { key: project.secretKey });
    expect(health.project.hold.held).toBe(false);
    const { rows } = await sql<{ mails: number; dead: number; complaints: number; used: number }>`
      SELECT sum(mails) AS mails, sum(dead) AS dead, sum(complaints) AS complaints,
        (SELECT emails FROM monthly_usage WHERE project_id = ${project.id}) AS used
      FROM send_outcomes WHERE project_id = ${project.id}`.execute(service.db);
    expect(rows[0]).toMatchObject({ mails: 1, dead: 0, complaints: 0, used: 1 });
    const { body: days } = await call('GET', '/analytics/timeseries');
    const sumDays = (key: string) => days.reduce((n: number, day: Record<string, number>) => n + (day[key] ?? 0), 0);
    expect([sumDays('emails'), sumDays('bounces'), sumDays('clicks')]).toEqual([1, 0, 0]);
  });
});

// These tests are near the end of the file, because the feedback to their emails takes 10 seconds. The emails were sent
// before the first test.
describe('email to an address of the simulator with delayed feedback', () => {
  it('slow@ delivers the email after 10 s', async () => {
    const { slow } = await delayedEmails;
    expect(Date.parse(slow.deliveredAt) - Date.parse(slow.sentAt)).toBeGreaterThanOrEqual(9_900);
  });

  it('defer@ delivers the email at the second attempt, after one 4xx reply', async () => {
    const { firstAttempt, deferred } = await delayedEmails;
    expect(firstAttempt).toMatchObject({ attempts: 1, error: expect.stringMatching(/^451 /) });
    expect(deferred.attempts).toBe(2);
  });
});

it('feedback that cannot be recorded does not block the feedback about other emails', async () => {
  const { db } = service;
  const rows: OutboxRow[] = [];
  for (const name of ['refused', 'recorded']) {
    const to = `complaint+${name}@simulator.test`;
    const contactId = await buildContact(db, { projectId: project.id, email: to });
    const refId = await buildEmail(db, { projectId: project.id, contactId, to, status: 'DELIVERED' });
    rows.push({ id: uuidv7(), projectId: project.id, kind: 'email.simulated', refId, payload: { what: 'complaint' } });
  }
  // No worker takes the rows in this time.
  const available_at = new Date(Date.now() + 3_600_000);
  for (const { id, projectId, kind, refId, payload } of rows)
    await db
      .insertInto('outbox')
      .values({ id, project_id: projectId, kind, ref_id: refId, payload: JSON.stringify(payload), available_at })
      .execute();
  const [refused = '', recorded = ''] = rows.map(({ refId }) => refId);
  await sql`CREATE FUNCTION refuse_complaint() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused''; END'`.execute(
    db,
  );
  await sql`
    CREATE TRIGGER refuse_complaint BEFORE INSERT ON events FOR EACH ROW
    WHEN (NEW.email_id = ${sql.lit(refused)}::uuid) EXECUTE FUNCTION refuse_complaint()`.execute(db);
  const deps = { db, config: { secretKey: 'secret' }, outbox: { wake: () => {} }, log: pino({ level: 'silent' }) };
  const record = createSimulatedFeedback(deps as unknown as ActivityDeps);
  await expect(record(project.id, rows)).rejects.toThrow('refused');
  const { rows: emails } = await sql<{ id: string }>`
    SELECT id FROM emails WHERE project_id = ${project.id} AND complained_at IS NOT NULL`.execute(db);
  expect(emails).toEqual([{ id: recorded }]);
});
