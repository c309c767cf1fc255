import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildContact } from '../build/emails.ts';
import { buildSentCampaign } from '../build/recipients.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, startTestApi, type TestApi } from '../support/api.ts';

const FILTER = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
  await buildDomain(api.db, { projectId: api.one.id, domain: 'pending.test', status: 'PENDING' });
  await buildContacts(api.db, { projectId: api.one.id, count: 3 });
});

beforeEach(() => {
  api.dispatched.length = 0;
});

afterAll(() => api?.close());

async function createCampaign(changes: Record<string, unknown> = {}) {
  const { status, body } = await api.call('POST', '/campaigns', { body: createCampaignBody(changes) });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

const getTimeInAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe('creating a campaign', () => {
  it('returns a DRAFT with every field, and GET returns the same record', async () => {
    const campaign = await createCampaign({ description: 'd', fromName: 'Sender', replyTo: 'r@else.test' });
    expect(campaign).toMatchObject({
      name: 'News',
      description: 'd',
      fromName: 'Sender',
      replyTo: 'r@else.test',
      status: 'DRAFT',
      type: 'ALL',
      audienceType: 'ALL',
      segmentId: null,
      filters: null,
      audienceFilter: null,
      scheduledAt: null,
      scheduledFor: null,
      sentAt: null,
      totalRecipients: 0,
      sentCount: 0,
    });
    for (const path of [`/campaigns/${campaign.id}`, `/v1/campaigns/${campaign.id}`]) {
      expect((await api.call('GET', path)).body).toEqual(campaign);
    }
  });

  it.each(['audienceFilter', 'audienceCondition', 'filters'])('accepts the condition in the field %s', async (name) => {
    const campaign = await createCampaign({ audienceType: 'FILTERED', [name]: FILTER });
    expect(campaign).toMatchObject({ filters: FILTER, audienceFilter: FILTER, audienceCondition: FILTER });
  });

  it('accepts the audience type as `type`, and a filter without groups', async () => {
    const simple = { operator: 'AND', conditions: [{ field: 'email', operator: 'contains', value: '@' }] };
    const campaign = await createCampaign({ audienceType: undefined, type: 'FILTERED', filters: simple });
    expect(campaign.audienceFilter.groups[0].filters).toEqual(simple.conditions);
  });

  it.each([
    ['an unverified sender', { from: 'a@pending.test' }, 400, 'DOMAIN_NOT_VERIFIED'],
    ['an unknown sender domain', { from: 'a@unknown.test' }, 400, 'DOMAIN_NOT_VERIFIED'],
    [
      'an unknown segment',
      { audienceType: 'SEGMENT', segmentId: '0190a000-0000-7000-8000-000000000000' },
      404,
      'NOT_FOUND',
    ],
    ['no segment for SEGMENT', { audienceType: 'SEGMENT' }, 422, 'VALIDATION_ERROR'],
    ['no filter for FILTERED', { audienceType: 'FILTERED' }, 422, 'VALIDATION_ERROR'],
    ['no audience', { audienceType: undefined }, 422, 'VALIDATION_ERROR'],
    ['a segment for ALL', { segmentId: '0190a000-0000-7000-8000-000000000000' }, 422, 'VALIDATION_ERROR'],
    ['a filter for ALL', { filters: FILTER }, 422, 'VALIDATION_ERROR'],
    ['an unknown audience', { audienceType: 'SOME' }, 422, 'VALIDATION_ERROR'],
    ['no name', { name: undefined }, 422, 'VALIDATION_ERROR'],
    ['a line break in the subject', { subject: 'a\nb' }, 422, 'VALIDATION_ERROR'],
    ['a subject that is too long', { subject: 'x'.repeat(999) }, 422, 'VALIDATION_ERROR'],
    ['an empty body', { body: '' }, 422, 'VALIDATION_ERROR'],
    ['a body that does not parse', { body: '{% if %}' }, 422, 'VALIDATION_ERROR'],
    ['an invalid filter', { audienceType: 'FILTERED', filters: { logic: 'AND', groups: [] } }, 422, 'VALIDATION_ERROR'],
  ])('creating a campaign is refused with %s', async (_, changes, status, code) => {
    const response = await api.call('POST', '/campaigns', { body: createCampaignBody(changes) });
    expect(response.status).toBe(status);
    expect(response.body.error.code).toBe(code);
  });
});

describe('changing a campaign', () => {
  it('PUT replaces the given fields and returns the campaign', async () => {
    const { id } = await createCampaign({ description: 'old' });
    const { status, body } = await api.call('PUT', `/campaigns/${id}`, {
      body: createCampaignBody({ subject: 'New', description: null }),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, subject: 'New', description: null, name: 'News' });
  });

  it('PUT changes the audience and clears the previous audience', async () => {
    const { id } = await createCampaign({ audienceType: 'FILTERED', filters: FILTER });
    const { body } = await api.call('PUT', `/campaigns/${id}`, { body: { audienceType: 'ALL' } });
    expect(body).toMatchObject({ type: 'ALL', audienceFilter: null });
  });

  it('PUT of a whole record with another audience type clears the audience; a PUT that sets an audience of the wrong type is refused', async () => {
    const { scheduledFor: _, ...record } = await createCampaign({ audienceType: 'FILTERED', filters: FILTER });
    const path = `/campaigns/${record.id}`;
    const other = { ...FILTER, logic: 'OR' };
    const refused = await api.call('PUT', path, { body: { audienceType: 'ALL', audienceFilter: other } });
    expect([refused.status, refused.body.error.errors]).toMatchObject([422, [{ field: 'audienceFilter' }]]);
    const { status, body } = await api.call('PUT', path, { body: { ...record, audienceType: 'ALL' } });
    expect([status, body]).toMatchObject([200, { type: 'ALL', audienceFilter: null }]);
    const segmentId = '0190a000-0000-7000-8000-000000000000';
    const segment = await api.call('PUT', path, { body: { segmentId } });
    expect([segment.status, segment.body.error.errors]).toMatchObject([422, [{ field: 'segmentId' }]]);
  });

  it('PUT with a new time moves a SCHEDULED campaign', async () => {
    const { id } = await createCampaign();
    await api.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor: getTimeInAnHour() } });
    const later = new Date(Date.now() + 7_200_000).toISOString();
    const { body } = await api.call('PUT', `/campaigns/${id}`, { body: { scheduledFor: later, subject: 'Later' } });
    expect(body).toMatchObject({ status: 'SCHEDULED', scheduledFor: later, subject: 'Later' });
    expect(api.dispatched.map((row) => row.kind)).toEqual(['campaign.start', 'campaign.changed']);
  });

  it.each(['SENDING', 'SENT', 'CANCELLED'])('PUT returns 409 in %s', async (status) => {
    const { id } = await createCampaign();
    await sql`UPDATE campaigns SET status = ${status} WHERE id = ${id}`.execute(api.db);
    const response = await api.call('PUT', `/campaigns/${id}`, { body: createCampaignBody() });
    expect(response.status).toBe(409);
    expect(response.body.error).toMatchObject({ code: 'CONFLICT', details: { status } });
  });

  it('duplicate creates a DRAFT with the same content', async () => {
    const original = await createCampaign({ audienceType: 'FILTERED', filters: FILTER });
    await sql`UPDATE campaigns SET status = 'SENT', sent_at = now() WHERE id = ${original.id}`.execute(api.db);
    const { status, body } = await api.call('POST', `/campaigns/${original.id}/duplicate`);
    expect(status).toBe(200);
    const { id, name, slug, createdAt, updatedAt, ...same } = body.data;
    expect([name, slug]).toEqual(['News (Copy)', 'news-copy']);
    expect(id).not.toBe(original.id);
    expect(original).toMatchObject(same);
    expect(createdAt <= updatedAt).toBe(true);
  });
});

describe('deleting a campaign', () => {
  it.each(['SCHEDULED', 'SENDING'])('deleting a campaign is refused in %s', async (status) => {
    const { id } = await createCampaign();
    await sql`UPDATE campaigns SET status = ${status} WHERE id = ${id}`.execute(api.db);
    const response = await api.call('DELETE', `/campaigns/${id}`);
    expect(response.status).toBe(409);
    expect(response.body.error.details).toEqual({ status });
  });

  it.each(['DRAFT', 'SENT', 'CANCELLED'])('deleting a campaign succeeds in %s', async (status) => {
    const { id } = await createCampaign();
    await sql`UPDATE campaigns SET status = ${status} WHERE id = ${id}`.execute(api.db);
    expect((await api.call('DELETE', `/campaigns/${id}`)).status).toBe(204);
    expect((await api.call('GET', `/campaigns/${id}`)).status).toBe(404);
    expect((await api.call('DELETE', `/campaigns/${id}`)).status).toBe(404);
  });
});

describe('sending a campaign', () => {
  it.each([{}, { scheduledFor: null }, undefined])('starts it at once with the body %j', async (body) => {
    const { id } = await createCampaign();
    const response = await api.call('POST', `/v1/campaigns/${id}/send`, body === undefined ? {} : { body });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ success: true, data: { id, status: 'SENDING', scheduledAt: null } });
    expect(api.dispatched).toMatchObject([{ kind: 'campaign.start', refId: id, payload: { sendNo: 1 } }]);
  });

  it('with a time schedules it, with another time reschedules it, and without a time starts it', async () => {
    const { id } = await createCampaign();
    const [first, second] = [getTimeInAnHour(), new Date(Date.now() + 9_000_000).toISOString()];
    const scheduled = await api.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor: first } });
    expect(scheduled.body.data).toMatchObject({ status: 'SCHEDULED', scheduledAt: first, scheduledFor: first });
    const moved = await api.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor: second } });
    expect(moved.body.data).toMatchObject({ status: 'SCHEDULED', scheduledFor: second });
    const started = await api.call('POST', `/campaigns/${id}/send`, { body: {} });
    expect(started.body.data).toMatchObject({ status: 'SENDING', scheduledFor: null });
    expect(api.dispatched.map((row) => row.kind)).toEqual(['campaign.start', 'campaign.changed', 'campaign.changed']);
  });

  it('starts it once if it is sent twice concurrently', async () => {
    const { id } = await createCampaign();
    const responses = await Promise.all([1, 2, 3].map(() => api.call('POST', `/campaigns/${id}/send`, { body: {} })));
    expect(responses.map((response) => response.status).sort()).toEqual([200, 409, 409]);
    expect(api.dispatched).toHaveLength(1);
  });

  it.each(['SENDING', 'SENT', 'CANCELLED'])('returns 409 in %s, with the status in details', async (status) => {
    const { id } = await createCampaign();
    await sql`UPDATE campaigns SET status = ${status} WHERE id = ${id}`.execute(api.db);
    const response = await api.call('POST', `/campaigns/${id}/send`, { body: {} });
    expect(response.status).toBe(409);
    expect(response.body.error).toMatchObject({ code: 'CONFLICT', details: { status } });
  });

  it('returns 400 for a time in the past', async () => {
    const { id } = await createCampaign();
    const response = await api.call('POST', `/campaigns/${id}/send`, {
      body: { scheduledFor: '2020-01-01T00:00:00Z' },
    });
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('BAD_REQUEST');
    expect((await api.call('GET', `/campaigns/${id}`)).body.status).toBe('DRAFT');
  });

  it.each([{}, { scheduledFor: getTimeInAnHour() }])(
    'without recipients returns 400 with the body %j, and changes nothing',
    async (body) => {
      const { id } = await createCampaign({ audienceType: 'FILTERED', filters: FILTER });
      const response = await api.call('POST', `/campaigns/${id}/send`, { body });
      expect(response.status).toBe(400);
      expect(response.body.error.code).toBe('BAD_REQUEST');
      expect((await api.call('GET', `/campaigns/${id}`)).body.status).toBe('DRAFT');
      expect(api.dispatched).toEqual([]);
    },
  );

  it('has no recipients if all contacts are unsubscribed', async () => {
    const plan = 'unsubscribed-only';
    await buildContact(api.db, { projectId: api.one.id, subscribed: false, data: { plan } });
    const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: plan }] }] };
    const { id } = await createCampaign({ audienceType: 'FILTERED', filters });
    expect((await api.call('POST', `/campaigns/${id}/send`, { body: {} })).status).toBe(400);
  });

  it('is refused if the domain is no longer verified', async () => {
    await buildDomain(api.db, { projectId: api.one.id, domain: 'lapsed.test' });
    const { id } = await createCampaign({ from: 'a@lapsed.test' });
    await sql`UPDATE domains SET status = 'FAILED' WHERE domain = 'lapsed.test'`.execute(api.db);
    const response = await api.call('POST', `/campaigns/${id}/send`, { body: {} });
    expect([response.status, response.body.error.code]).toEqual([400, 'DOMAIN_NOT_VERIFIED']);
  });

  it('does not use the monthly limit if all recipients are simulator addresses', async () => {
    const plan = 'simulated';
    const email = 'delivered+month@simulator.test';
    await buildContact(api.db, { projectId: api.one.id, email, data: { plan } });
    const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: plan }] }] };
    const { id } = await createCampaign({ audienceType: 'FILTERED', filters });
    await sql`UPDATE projects SET monthly_email_limit = 0 WHERE id = ${api.one.id}`.execute(api.db);
    try {
      expect((await api.call('POST', `/campaigns/${id}/send`, { body: {} })).status).toBe(200);
    } finally {
      await sql`UPDATE projects SET monthly_email_limit = NULL WHERE id = ${api.one.id}`.execute(api.db);
    }
  });

  it('returns 429 when the monthly limit is reached, but not with a test key', async () => {
    const { id } = await createCampaign();
    await sql`UPDATE projects SET monthly_email_limit = 0 WHERE id = ${api.one.id}`.execute(api.db);
    try {
      const refused = await api.call('POST', `/campaigns/${id}/send`, { body: {} });
      expect([refused.status, refused.body.error.code]).toEqual([429, 'BILLING_LIMIT_EXCEEDED']);
      const tested = await api.call('POST', `/campaigns/${id}/send`, { body: {}, key: api.one.testKey });
      expect(tested.status).toBe(200);
    } finally {
      await sql`UPDATE projects SET monthly_email_limit = NULL WHERE id = ${api.one.id}`.execute(api.db);
    }
  });
});

describe('cancelling a campaign', () => {
  it('frees its slots under the frequency cap if no email was attempted', async () => {
    const { id: projectId, secretKey: key } = await buildProject(api.db, 'Places');
    const id = await buildSentCampaign(api.db, { projectId, count: 2, status: `'PENDING'` });
    await sql`UPDATE projects SET frequency_max = 1, frequency_days = 7 WHERE id = ${projectId}`.execute(api.db);
    await sql`UPDATE campaigns SET status = 'SENDING', sent_at = NULL WHERE id = ${id}`.execute(api.db);
    await sql`UPDATE emails SET attempts = 0 WHERE campaign_id = ${id}`.execute(api.db);
    await sql`
      INSERT INTO frequency_slots (contact_id, project_id, wanted, mails)
      SELECT contact_id, project_id, ARRAY[id], jsonb_build_object(id, 1, 'another', 2) FROM emails WHERE campaign_id = ${id}`.execute(
      api.db,
    );
    expect((await api.call('POST', `/campaigns/${id}/cancel`, { key })).body.data.status).toBe('DRAFT');
    const { rows } = await sql`SELECT mails FROM frequency_slots WHERE project_id = ${projectId}`.execute(api.db);
    expect(rows).toEqual([{ mails: { another: 2 } }, { mails: { another: 2 } }]);
  });

  it('makes a SCHEDULED campaign a DRAFT, which can be sent again', async () => {
    const { id } = await createCampaign();
    await api.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor: getTimeInAnHour() } });
    const cancelled = await api.call('POST', `/campaigns/${id}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({ success: true, data: { status: 'DRAFT', scheduledFor: null } });
    await api.call('POST', `/campaigns/${id}/send`, { body: {} });
    expect(api.dispatched.map((row) => [row.kind, 'sendNo' in row.payload && row.payload.sendNo])).toEqual([
      ['campaign.start', 1],
      ['campaign.changed', 1],
      ['campaign.start', 2],
    ]);
  });

  it.each(['DRAFT', 'SENT', 'CANCELLED'])('cancelling a campaign returns 409 in %s', async (status) => {
    const { id } = await createCampaign();
    await sql`UPDATE campaigns SET status = ${status} WHERE id = ${id}`.execute(api.db);
    const response = await api.call('POST', `/campaigns/${id}/cancel`);
    expect(response.status).toBe(409);
    expect(response.body.error.details).toEqual({ status });
  });
});

describe('a test email of a campaign', () => {
  it('is one email with [TEST] in its subject, rendered for the contact of the address', async () => {
    const contactId = await buildContact(api.db, { projectId: api.one.id, email: 'tester@to.test', subscribed: false });
    const { id } = await createCampaign();
    const response = await api.call('POST', `/campaigns/${id}/test`, { body: { email: 'Tester@To.test' } });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ success: true, data: { email: 'tester@to.test' } });
    expect(api.dispatched).toMatchObject([{ kind: 'email.deliver', refId: response.body.data.emailId }]);
    const { rows } = await sql`
      SELECT e.contact_id, e.campaign_id, e.to_email, k.subject FROM emails e JOIN contents k ON k.id = e.content_id
      WHERE e.id = ${response.body.data.emailId}`.execute(api.db);
    expect(rows).toEqual([
      {
        contact_id: contactId,
        campaign_id: null,
        to_email: 'tester@to.test',
        subject: '[TEST] News for {{firstName}}',
      },
    ]);
    expect((await api.call('GET', `/campaigns/${id}`)).body).toMatchObject({ status: 'DRAFT', totalRecipients: 0 });
  });

  it('is sent to an address without a contact, and creates no contact', async () => {
    const { id } = await createCampaign();
    const response = await api.call('POST', `/campaigns/${id}/test`, { body: { email: 'nobody@to.test' } });
    expect(response.status).toBe(200);
    const { rows } = await sql`SELECT FROM contacts WHERE email = 'nobody@to.test'`.execute(api.db);
    expect(rows).toEqual([]);
  });
});

describe('lists and statistics of campaigns', () => {
  it('are paged by number and by cursor, newest first, by status', async () => {
    const status = 'CANCELLED';
    const ids: string[] = [];
    await sql`DELETE FROM campaigns WHERE status = ${status}`.execute(api.db);
    for (let n = 0; n < 3; n++) ids.unshift((await createCampaign({ name: `Page ${n}` })).id);
    await sql`UPDATE campaigns SET status = ${status} WHERE name LIKE 'Page %'`.execute(api.db);
    const first = await api.call('GET', `/campaigns?status=${status}&pageSize=2`);
    expect(first.body).toMatchObject({ page: 1, pageSize: 2, total: 3, totalPages: 2, hasMore: true });
    const next = await api.call('GET', `/campaigns?status=${status}&limit=2&cursor=${first.body.cursor}`);
    const second = await api.call('GET', `/campaigns?status=${status}&pageSize=2&page=2`);
    expect(second.body.campaigns).toEqual(next.body.campaigns);
    const seen = [...first.body.campaigns, ...next.body.campaigns].map((campaign) => campaign.id);
    expect(seen).toEqual(ids);
    expect(next.body).toMatchObject({ hasMore: false, cursor: null });
  });

  it.each(['status=DONE', 'limit=0', 'limit=101', 'cursor=nonsense!', 'page=0'])(
    'return 400 for ?%s',
    async (query) => {
      const response = await api.call('GET', `/campaigns?${query}`);
      expect([response.status, response.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );

  it('are all zero for a draft', async () => {
    const { id } = await createCampaign();
    const { status, body } = await api.call('GET', `/campaigns/${id}/stats`);
    expect(status).toBe(200);
    const names =
      'total pending sent delivered opened clicked bounced complained unsubscribed failed skipped openRate clickRate bounceRate deliveryRate';
    const zeros = Object.fromEntries(names.split(' ').map((name) => [name, 0]));
    const none = {
      deliveredBasis: 'sent_minus_bounced',
      byReason: {},
      machineOpens: 0,
      machineClicks: 0,
      series: [],
      machineSeries: [],
    };
    expect(body).toEqual({ ...zeros, ...none, variants: null, comparison: null });
  });
});

describe('access to campaigns', () => {
  const OPERATIONS: [string, string, unknown?][] = [
    ['GET', ''],
    ['PUT', '', createCampaignBody()],
    ['DELETE', ''],
    ['POST', '/duplicate'],
    ['POST', '/send', {}],
    ['POST', '/cancel'],
    ['POST', '/test', { email: 'a@to.test' }],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['GET', '/stats'],
  ];

  it.each(OPERATIONS)(
    "%s /campaigns/{id}%s returns 404 for another project's id, and 403 without the scope",
    async (method, path, body) => {
      const { id } = await createCampaign();
      const other = await api.call(method, `/campaigns/${id}${path}`, { key: api.two.secretKey, body });
      // `from` is checked first: the other project has no domain at all.
      expect(path === '' && method === 'PUT' ? [400, 404] : [404]).toContain(other.status);
      const bare = await api.call(method, `/campaigns/${id}${path}`, { key: api.one.bareKey, body });
      expect(bare.status).toBe(403);
      expect((await api.call(method, `/campaigns/not-an-id${path}`, { body })).status).toBe(404);
    },
  );
});

describe('the activity feed', () => {
  it('lists a campaign as scheduled only while it has a scheduled time', async () => {
    const { id } = await createCampaign({ name: 'Scheduled for the feed' });
    const isListed = async () =>
      (await api.call('GET', '/activity?types=campaign.scheduled&limit=100')).body.activities.some(
        ({ metadata }: { metadata: { campaignId: string } }) => metadata.campaignId === id,
      );
    expect(await isListed()).toBe(false);
    const sent = await api.call('POST', `/campaigns/${id}/send`, { body: { scheduledFor: getTimeInAnHour() } });
    expect(sent.status).toBe(200);
    expect(await isListed()).toBe(true);
    expect((await api.call('POST', `/campaigns/${id}/cancel`)).status).toBe(200);
    expect(await isListed()).toBe(false);
  });
});
