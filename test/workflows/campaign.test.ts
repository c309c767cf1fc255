import { sql } from 'kysely';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

const campaigns = useCampaignService({ sink: { keepBodies: true } });
const { call, create, send, waitForStatus, countOutcomes } = campaigns;

async function readStats(id: string) {
  return (await call('GET', `/campaigns/${id}/stats`)).body;
}

async function countEvents(name: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM events WHERE project_id = ${campaigns.project.id} AND name = ${name}
  `.execute(campaigns.service.db);
  return rows[0]?.n ?? 0;
}

/** Returns the current details of a campaign's workflow, which Temporal's UI shows. */
async function readDetails(id: string): Promise<string> {
  const { operator, service } = campaigns;
  const handle = operator.client.workflow.getHandle(service.names.campaign(id, 1));
  return (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

describe('a campaign over SMTP', () => {
  it('reaches every subscribed contact once, each with their own content, and is SENT', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 600 });
    await sql`UPDATE contacts SET subscribed = false WHERE project_id = ${campaigns.project.id} AND email IN ('r1@to.test', 'r2@to.test')`.execute(
      campaigns.service.db,
    );
    const id = await create();
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({
      totalRecipients: 600,
      sentCount: 598,
      pendingCount: 0,
      skippedCount: 2,
    });
    const got = campaigns.sink.perRecipient();
    expect(got.size).toBe(598);
    expect([...got.values()].every((times) => times === 1)).toBe(true);
    expect(await countEvents('email.sent')).toBe(598);
    const body = campaigns.sink.bodies.find((text) => text.includes('To: r7@to.test')) ?? '';
    expect(body).toContain('Subject: News for Ada\r\n');
    const { html, text } = await PostalMime.parse(body);
    expect(html).toContain('you are number 7.');
    expect(text).toContain('you are number 7.');
    expect(body).toMatch(/^List-Unsubscribe: <http/m);
    expect(body).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m);
  });

  it('is sent to a segment and to a filter', async () => {
    await buildContacts(campaigns.service.db, {
      projectId: campaigns.project.id,
      count: 10,
      localPart: 'pro',
      data: { plan: 'pro' },
    });
    await buildContacts(campaigns.service.db, {
      projectId: campaigns.project.id,
      count: 10,
      localPart: 'free',
      data: { plan: 'free' },
    });
    const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
    const byFilter = await create({ audienceType: 'FILTERED', filters });
    const { rows } = await sql<{ id: string }>`
      INSERT INTO segments (project_id, name, slug, condition)
      VALUES (${campaigns.project.id}, 'Pro', 'pro', ${JSON.stringify(filters)}::jsonb) RETURNING id`.execute(
      campaigns.service.db,
    );
    const bySegment = await create({ audienceType: 'SEGMENT', segmentId: rows[0]?.id });
    for (const id of [byFilter, bySegment]) {
      campaigns.sink.reset();
      await send(id);
      expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 10 });
      expect([...campaigns.sink.perRecipient().keys()].every((to) => to.startsWith('pro'))).toBe(true);
    }
  });

  it('waits for its scheduled time, which can be changed', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 3 });
    const id = await create();
    await send(id, { scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
    expect(campaigns.sink.messages).toHaveLength(0);
    const soon = new Date(Date.now() + 1_500);
    await send(id, { scheduledFor: soon.toISOString() });
    const campaign = await waitForStatus(id, 'SENT');
    expect(Date.parse(campaign.startedAt)).toBeGreaterThanOrEqual(soon.getTime());
    expect(campaigns.sink.messages).toHaveLength(3);
  });

  it('sends the content that it has when it starts', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 1 });
    const id = await create();
    await send(id, { scheduledFor: new Date(Date.now() + 1_500).toISOString() });
    expect((await call('PUT', `/campaigns/${id}`, { subject: 'Changed in time' })).status).toBe(200);
    await waitForStatus(id, 'SENT');
    expect(campaigns.sink.bodies[0]).toContain('Subject: Changed in time\r\n');
  });

  it('is recorded as SENT and sends nothing with a test key', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 5 });
    const id = await create();
    const response = await campaigns.service.call('POST', `/campaigns/${id}/send`, {
      key: campaigns.project.testKey,
      body: {},
    });
    expect(response.status).toBe(200);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 5 });
    expect(campaigns.sink.messages).toHaveLength(0);
  });

  it('sends one test email with [TEST] in its subject', async () => {
    const id = await create();
    await call('POST', `/campaigns/${id}/test`, { email: 'me@to.test' });
    await until(async () => campaigns.sink.messages.length === 1);
    expect(campaigns.sink.bodies[0]).toContain('Subject: [TEST] News for');
    expect(await readStats(id)).toMatchObject({ total: 0 });
  });
});

describe('a campaign that is being sent', () => {
  it('sends no email to a contact who unsubscribes, is suppressed or deleted after the recipients are stored', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 1_500 });
    campaigns.pauseMs = 100;
    const id = await create();
    await send(id);
    await until(async () => campaigns.sink.messages.length > 0);
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM contacts WHERE project_id = ${campaigns.project.id} AND email IN ('r1490@to.test', 'r1491@to.test') ORDER BY email
    `.execute(campaigns.service.db);
    await call('PATCH', `/contacts/${rows[0]?.id}`, { subscribed: false });
    expect((await call('DELETE', `/contacts/${rows[1]?.id}`)).status).toBe(204);
    const suppressed = await call('POST', '/suppressions', { email: 'r1492@to.test', reason: 'manual' });
    expect(suppressed.status).toBeLessThan(300);
    campaigns.pauseMs = 0;
    expect(await waitForStatus(id, 'SENT')).toMatchObject({
      totalRecipients: 1_500,
      sentCount: 1_497,
      skippedCount: 3,
    });
    expect(await countOutcomes(id)).toEqual({
      SENT: 1_497,
      'FAILED unsubscribed': 1,
      'FAILED contact_deleted': 1,
      'FAILED suppressed:manual': 1,
    });
    const got = campaigns.sink.perRecipient();
    for (const n of [1490, 1491, 1492]) expect(got.has(`r${n}@to.test`)).toBe(false);
  });

  it('has pending + sent + failed + skipped = total at every moment', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 2_000 });
    await buildContacts(campaigns.service.db, {
      projectId: campaigns.project.id,
      count: 20,
      localPart: 'reject550-5.1.1-',
    });
    campaigns.pauseMs = 5;
    const id = await create();
    await send(id);
    const seen = new Set<number>();
    const last = await until(async () => {
      const now = await readStats(id);
      expect(now.pending + now.sent + now.failed + now.skipped).toBe(now.total);
      seen.add(now.sent);
      return now.total > 0 && now.pending === 0 ? now : undefined;
    });
    expect(seen.size).toBeGreaterThan(3);
    expect(last).toMatchObject({ total: 2_020, sent: 2_000, failed: 20, bounced: 20 });
  });
});

describe('refusals by the receiving server', () => {
  it('make the email BOUNCED and the contact suppressed and unsubscribed, with events, after a hard bounce', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 2 });
    await buildContacts(campaigns.service.db, {
      projectId: campaigns.project.id,
      count: 1,
      localPart: 'reject550-5.1.1-',
    });
    const id = await create();
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 2, failedCount: 1, bouncedCount: 1 });
    expect(await countOutcomes(id)).toEqual({ SENT: 2, 'BOUNCED bounced:dead_mailbox': 1 });
    const { body } = await call('GET', '/suppressions');
    expect(body.data).toMatchObject([{ email: 'reject550-5.1.1-0@to.test', reason: 'hard_bounce' }]);
    const contact = await call('GET', '/contacts?search=reject550');
    expect(contact.body.data[0].subscribed).toBe(false);
    expect([await countEvents('email.bounce'), await countEvents('contact.unsubscribed')]).toEqual([1, 1]);
  });

  it('temporary refusals are retried later, and other recipients do not wait for them', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 5 });
    await buildContacts(campaigns.service.db, {
      projectId: campaigns.project.id,
      count: 1,
      localPart: 'defer450-4.2.1-',
    });
    const id = await create();
    await send(id);
    await until(async () => (await readStats(id)).sent === 5);
    await until(async () => (await countOutcomes(id)).PENDING === 1);
    expect((await call('GET', `/campaigns/${id}`)).body).toMatchObject({ status: 'SENDING', pendingCount: 1 });
    await until(async () => /1 to continue later, the first at \d{4}-.*Z$/.test(await readDetails(id)), 'the details');
    // The deferred recipient still waits for its next attempt, so the test cancels the campaign.
    await call('POST', `/campaigns/${id}/cancel`);
    await waitForStatus(id, 'CANCELLED');
    await until(async () => (await readStats(id)).pending === 0);
    expect(await countOutcomes(id)).toEqual({ SENT: 5, 'FAILED cancelled': 1 });
  });
});

describe('cancelling a campaign', () => {
  it('makes a SCHEDULED campaign a DRAFT that can be sent', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 3 });
    const id = await create();
    await send(id, { scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
    const { body } = await call('POST', `/campaigns/${id}/cancel`);
    expect(body.data.status).toBe('DRAFT');
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 3 });
  });

  it('stops a SENDING campaign, which keeps its sent emails and skips the other recipients', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 6_000 });
    campaigns.pauseMs = 50;
    const id = await create();
    await send(id);
    await until(async () => campaigns.sink.messages.length > 20 && (await readStats(id)).total === 6_000);
    const { body } = await call('POST', `/campaigns/${id}/cancel`);
    expect(body.data.status).toBe('CANCELLED');
    await until(async () => (await readStats(id)).pending === 0);
    const last = await readStats(id);
    expect(last.sent).toBe(campaigns.sink.messages.length);
    expect(last.sent).toBeLessThan(3_000);
    expect(last).toMatchObject({ total: 6_000, skipped: 6_000 - last.sent, failed: 0 });
    expect(Object.keys(await countOutcomes(id)).sort()).toEqual(['FAILED cancelled', 'SENT']);
  });

  it('before any attempt deletes the recipients, and makes it a DRAFT', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 50 });
    await sql`UPDATE projects SET held_at = now() WHERE id = ${campaigns.project.id}`.execute(campaigns.service.db);
    const id = await create();
    await send(id);
    await until(async () => (await countOutcomes(id)).HELD === 50);
    expect((await call('GET', `/campaigns/${id}`)).body).toMatchObject({ status: 'SENDING', pendingCount: 50 });
    const { body } = await call('POST', `/campaigns/${id}/cancel`);
    expect(body.data).toMatchObject({ status: 'DRAFT', totalRecipients: 0 });
    expect(await countOutcomes(id)).toEqual({});
    await sql`UPDATE projects SET held_at = NULL WHERE id = ${campaigns.project.id}`.execute(campaigns.service.db);
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 50 });
    expect(campaigns.sink.messages).toHaveLength(50);
  });
});

describe('limits of the project during a campaign', () => {
  it('make all emails HELD while the project is on hold, and each is sent once after the release', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 40 });
    await sql`UPDATE projects SET held_at = now() WHERE id = ${campaigns.project.id}`.execute(campaigns.service.db);
    const id = await create();
    await send(id);
    await until(async () => (await countOutcomes(id)).HELD === 40);
    const { releaseProject } = await import('../../engine/projects/project-changes.ts');
    await campaigns.service.db.transaction().execute((trx) => releaseProject(trx, campaigns.project.id));
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 40 });
    expect([...campaigns.sink.perRecipient().values()].every((times) => times === 1)).toBe(true);
  });

  it('keep the send rate during the whole campaign', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 60 });
    await sql`UPDATE projects SET send_rate_per_second = 20 WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    const id = await create();
    const startedAt = Date.now();
    await send(id);
    await waitForStatus(id, 'SENT');
    expect(Date.now() - startedAt).toBeGreaterThan(1_900);
    expect(campaigns.sink.messages).toHaveLength(60);
  });

  it('make recipients beyond the monthly limit FAILED', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 30 });
    await sql`UPDATE projects SET monthly_email_limit = 20 WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
    const id = await create();
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 20, failedCount: 10 });
    expect(await countOutcomes(id)).toEqual({ SENT: 20, 'FAILED limit_reached': 10 });
  });
});

describe('workflows that the event email.sent triggers', () => {
  it('start once for every email of a campaign', async () => {
    await buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count: 12 });
    const workflow = await call('POST', '/workflows', { name: 'W', eventName: 'email.sent' });
    await call('POST', `/workflows/${workflow.body.id}/steps`, { type: 'EXIT', name: 'end', config: {} });
    expect((await call('PATCH', `/workflows/${workflow.body.id}`, { enabled: true })).status).toBe(200);
    const id = await create();
    await send(id);
    expect(await waitForStatus(id, 'SENT')).toMatchObject({ sentCount: 12 });
    const { rows } = await sql`SELECT FROM executions WHERE workflow_id = ${workflow.body.id}`.execute(
      campaigns.service.db,
    );
    expect(rows).toHaveLength(12);
    expect(await countEvents('email.sent')).toBe(12);
  });
});
