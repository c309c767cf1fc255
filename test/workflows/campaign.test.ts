import { sql } from 'kysely';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildContacts, campaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import { startTestService, type TestService, until } from '../support/service.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';

let service: TestService;
let sink: SmtpSink;
let project: TestProject;
/** Milliseconds that the sink takes for each packet: time to look at a campaign that is running. */
let slowly = 0;

beforeAll(async () => {
  sink = await startSmtpSink({ keepBodies: true, pauseMs: () => slowly });
  service = await startTestService({ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url });
});

beforeEach(async () => {
  slowly = 0;
  sink.reset();
  project = await buildProject(service.db, 'Campaigns');
  await buildDomain(service.db, { projectId: project.id, domain: 'sender.test', signing: false });
});

afterAll(async () => {
  await service?.close();
  await sink?.close();
});

function call(method: string, path: string, body?: unknown) {
  return service.call(method, path, { key: project.secretKey, ...(body !== undefined && { body }) });
}

async function create(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await call('POST', '/campaigns', campaignBody(changes));
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.id;
}

async function send(id: string, body: Record<string, unknown> = {}): Promise<void> {
  const answer = await call('POST', `/campaigns/${id}/send`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function stats(id: string) {
  return (await call('GET', `/campaigns/${id}/stats`)).body;
}

async function ended(id: string, status = 'SENT') {
  return until(async () => {
    const { body } = await call('GET', `/campaigns/${id}`);
    return body.status === status ? body : undefined;
  }, `campaign ${status}`);
}

/** The campaign's recipients by status and reason. */
async function outcomes(id: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ what: string; n: number }>`
    SELECT status || coalesce(' ' || reason, '') AS what, count(*) AS n FROM emails WHERE campaign_id = ${id} GROUP BY 1
  `.execute(service.db);
  return Object.fromEntries(rows.map((row) => [row.what, row.n]));
}

async function eventCount(name: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM events WHERE project_id = ${project.id} AND name = ${name}
  `.execute(service.db);
  return rows[0]?.n ?? 0;
}

describe('a campaign over SMTP', () => {
  test('reaches every subscribed contact once, each with its own words, and is SENT', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 600 });
    await sql`UPDATE contacts SET subscribed = false WHERE project_id = ${project.id} AND email IN ('r1@to.test', 'r2@to.test')`.execute(
      service.db,
    );
    const id = await create();
    await send(id);
    expect(await ended(id)).toMatchObject({ totalRecipients: 598, sentCount: 598, pendingCount: 0, skippedCount: 0 });
    const got = sink.perRecipient();
    expect(got.size).toBe(598);
    expect([...got.values()].every((times) => times === 1)).toBe(true);
    expect(await eventCount('email.sent')).toBe(598);
    const body = sink.bodies.find((text) => text.includes('To: r7@to.test')) ?? '';
    expect(body).toContain('Subject: News for Ada\r\n');
    const { html, text } = await PostalMime.parse(body);
    expect(html).toContain('you are number 7.');
    expect(text).toContain('you are number 7.');
    expect(body).toMatch(/^List-Unsubscribe: <http/m);
    expect(body).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m);
  });

  test('goes to a segment and to a filter', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 10, localPart: 'pro', data: { plan: 'pro' } });
    await buildContacts(service.db, { projectId: project.id, count: 10, localPart: 'free', data: { plan: 'free' } });
    const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
    const byFilter = await create({ audienceType: 'FILTERED', filters });
    const { rows } = await sql<{ id: string }>`
      INSERT INTO segments (project_id, name, slug, condition)
      VALUES (${project.id}, 'Pro', 'pro', ${JSON.stringify(filters)}::jsonb) RETURNING id`.execute(service.db);
    const bySegment = await create({ audienceType: 'SEGMENT', segmentId: rows[0]?.id });
    for (const id of [byFilter, bySegment]) {
      sink.reset();
      await send(id);
      expect(await ended(id)).toMatchObject({ sentCount: 10 });
      expect([...sink.perRecipient().keys()].every((to) => to.startsWith('pro'))).toBe(true);
    }
  });

  test('waits for its time, and moves when it is rescheduled', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 3 });
    const id = await create();
    await send(id, { scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
    expect(sink.messages).toHaveLength(0);
    const soon = new Date(Date.now() + 1_500);
    await send(id, { scheduledFor: soon.toISOString() });
    const campaign = await ended(id);
    expect(Date.parse(campaign.startedAt)).toBeGreaterThanOrEqual(soon.getTime());
    expect(sink.messages).toHaveLength(3);
  });

  test('says what it said when it started, whatever PUT had changed before', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 1 });
    const id = await create();
    await send(id, { scheduledFor: new Date(Date.now() + 1_500).toISOString() });
    expect((await call('PUT', `/campaigns/${id}`, { subject: 'Changed in time' })).status).toBe(200);
    await ended(id);
    expect(sink.bodies[0]).toContain('Subject: Changed in time\r\n');
  });

  test('with a test key is recorded as SENT and handed to nobody', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 5 });
    const id = await create();
    const answer = await service.call('POST', `/campaigns/${id}/send`, { key: project.testKey, body: {} });
    expect(answer.status).toBe(200);
    expect(await ended(id)).toMatchObject({ sentCount: 5 });
    expect(sink.messages).toHaveLength(0);
  });

  test('sends one test mail that is marked', async () => {
    const id = await create();
    await call('POST', `/campaigns/${id}/test`, { email: 'me@to.test' });
    await until(async () => sink.messages.length === 1);
    expect(sink.bodies[0]).toContain('Subject: [TEST] News for');
    expect(await stats(id)).toMatchObject({ total: 0 });
  });
});

describe('consent is decided when a mail is about to leave', () => {
  test('a contact who unsubscribes, is suppressed or deleted after the audience is taken gets nothing', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 1_500 });
    slowly = 100;
    const id = await create();
    await send(id);
    await until(async () => sink.messages.length > 0);
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM contacts WHERE project_id = ${project.id} AND email IN ('r1490@to.test', 'r1491@to.test') ORDER BY email
    `.execute(service.db);
    await call('PATCH', `/contacts/${rows[0]?.id}`, { subscribed: false });
    expect((await call('DELETE', `/contacts/${rows[1]?.id}`)).status).toBe(204);
    const suppressed = await call('POST', '/suppressions', { email: 'r1492@to.test', reason: 'manual' });
    expect(suppressed.status).toBeLessThan(300);
    slowly = 0;
    expect(await ended(id)).toMatchObject({ totalRecipients: 1_500, sentCount: 1_497, skippedCount: 3 });
    expect(await outcomes(id)).toEqual({
      SENT: 1_497,
      'FAILED unsubscribed': 1,
      'FAILED contact_deleted': 1,
      'FAILED suppressed:manual': 1,
    });
    const got = sink.perRecipient();
    for (const n of [1490, 1491, 1492]) expect(got.has(`r${n}@to.test`)).toBe(false);
  });

  test('pending + sent + failed + skipped = total at every moment of a running send', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 2_000 });
    await buildContacts(service.db, { projectId: project.id, count: 20, localPart: 'reject550-5.1.1-' });
    slowly = 5;
    const id = await create();
    await send(id);
    const seen = new Set<number>();
    const last = await until(async () => {
      const now = await stats(id);
      expect(now.pending + now.sent + now.failed + now.skipped).toBe(now.total);
      seen.add(now.sent);
      return now.total > 0 && now.pending === 0 ? now : undefined;
    });
    expect(seen.size).toBeGreaterThan(3);
    expect(last).toMatchObject({ total: 2_020, sent: 2_000, failed: 20, bounced: 20 });
  });
});

describe('what the receiving side refuses', () => {
  test('a dead mailbox is BOUNCED, suppressed and unsubscribed, with its events', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 2 });
    await buildContacts(service.db, { projectId: project.id, count: 1, localPart: 'reject550-5.1.1-' });
    const id = await create();
    await send(id);
    expect(await ended(id)).toMatchObject({ sentCount: 2, failedCount: 1, bouncedCount: 1 });
    expect(await outcomes(id)).toEqual({ SENT: 2, 'BOUNCED bounced:dead': 1 });
    const { body } = await call('GET', '/suppressions');
    expect(body.data).toMatchObject([{ email: 'reject550-5.1.1-0@to.test', reason: 'hard_bounce' }]);
    const contact = await call('GET', '/contacts?search=reject550');
    expect(contact.body.data[0].subscribed).toBe(false);
    expect([await eventCount('email.bounce'), await eventCount('contact.unsubscribed')]).toEqual([1, 1]);
  });

  test('what is refused for now is tried again later, and the others do not wait for it', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 5 });
    await buildContacts(service.db, { projectId: project.id, count: 1, localPart: 'defer450-4.2.1-' });
    const id = await create();
    await send(id);
    await until(async () => (await stats(id)).sent === 5);
    await until(async () => (await outcomes(id)).PENDING === 1);
    expect((await call('GET', `/campaigns/${id}`)).body).toMatchObject({ status: 'SENDING', pendingCount: 1 });
    // Its day is over: the address takes mail now, and the next look finds it.
    await call('POST', `/campaigns/${id}/cancel`);
    await ended(id, 'CANCELLED');
    await until(async () => (await stats(id)).pending === 0);
    expect(await outcomes(id)).toEqual({ SENT: 5, 'FAILED cancelled': 1 });
  });
});

describe('cancelling', () => {
  test('a SCHEDULED campaign gives a DRAFT that can be sent', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 3 });
    const id = await create();
    await send(id, { scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
    const { body } = await call('POST', `/campaigns/${id}/cancel`);
    expect(body.data.status).toBe('DRAFT');
    await send(id);
    expect(await ended(id)).toMatchObject({ sentCount: 3 });
  });

  test('a SENDING campaign stops, keeps what was handed over, and skips the rest', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 6_000 });
    slowly = 50;
    const id = await create();
    await send(id);
    await until(async () => sink.messages.length > 20 && (await stats(id)).total === 6_000);
    const { body } = await call('POST', `/campaigns/${id}/cancel`);
    expect(body.data.status).toBe('CANCELLED');
    await until(async () => (await stats(id)).pending === 0);
    const last = await stats(id);
    expect(last.sent).toBe(sink.messages.length);
    expect(last.sent).toBeLessThan(3_000);
    expect(last).toMatchObject({ total: 6_000, skipped: 6_000 - last.sent, failed: 0 });
    expect(Object.keys(await outcomes(id)).sort()).toEqual(['FAILED cancelled', 'SENT']);
  });

  test('before anything was tried removes the ledger and gives a DRAFT', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 50 });
    await sql`UPDATE projects SET held_at = now() WHERE id = ${project.id}`.execute(service.db);
    const id = await create();
    await send(id);
    await until(async () => (await outcomes(id)).HELD === 50);
    expect((await call('GET', `/campaigns/${id}`)).body).toMatchObject({ status: 'SENDING', pendingCount: 50 });
    const { body } = await call('POST', `/campaigns/${id}/cancel`);
    expect(body.data).toMatchObject({ status: 'DRAFT', totalRecipients: 0 });
    expect(await outcomes(id)).toEqual({});
    await sql`UPDATE projects SET held_at = NULL WHERE id = ${project.id}`.execute(service.db);
    await send(id);
    expect(await ended(id)).toMatchObject({ sentCount: 50 });
    expect(sink.messages).toHaveLength(50);
  });
});

describe('limits of the project', () => {
  test('on hold everything is HELD, and leaves once after the release', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 40 });
    await sql`UPDATE projects SET held_at = now() WHERE id = ${project.id}`.execute(service.db);
    const id = await create();
    await send(id);
    await until(async () => (await outcomes(id)).HELD === 40);
    const { releaseProject } = await import('../../db/projects.ts');
    await service.db.transaction().execute((trx) => releaseProject(trx, project.id));
    expect(await ended(id)).toMatchObject({ sentCount: 40 });
    expect([...sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });

  test('the send rate holds over the whole campaign', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 60 });
    await sql`UPDATE projects SET send_rate_per_second = 20 WHERE id = ${project.id}`.execute(service.db);
    const id = await create();
    const startedAt = Date.now();
    await send(id);
    await ended(id);
    expect(Date.now() - startedAt).toBeGreaterThan(1_900);
    expect(sink.messages).toHaveLength(60);
  });

  test('what the month has no room for is skipped', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 30 });
    await sql`UPDATE projects SET monthly_email_limit = 20 WHERE id = ${project.id}`.execute(service.db);
    const id = await create();
    await send(id);
    expect(await ended(id)).toMatchObject({ sentCount: 20, skippedCount: 10 });
    expect(await outcomes(id)).toEqual({ SENT: 20, 'FAILED limit_reached': 10 });
  });
});

describe('what listens to email.sent', () => {
  test('hears of every mail of a campaign once', async () => {
    await buildContacts(service.db, { projectId: project.id, count: 12 });
    const workflow = await call('POST', '/workflows', { name: 'W', eventName: 'email.sent' });
    await call('POST', `/workflows/${workflow.body.id}/steps`, { type: 'EXIT', name: 'end', config: {} });
    expect((await call('PATCH', `/workflows/${workflow.body.id}`, { enabled: true })).status).toBe(200);
    const id = await create();
    await send(id);
    expect(await ended(id)).toMatchObject({ sentCount: 12 });
    const { rows } = await sql`SELECT FROM executions WHERE workflow_id = ${workflow.body.id}`.execute(service.db);
    expect(rows).toHaveLength(12);
    expect(await eventCount('email.sent')).toBe(12);
  });
});
