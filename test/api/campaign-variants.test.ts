import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
  await buildDomain(api.db, { projectId: api.one.id, domain: 'pending.test', status: 'PENDING' });
  await buildContacts(api.db, { projectId: api.one.id, count: 3 });
});

afterAll(() => api?.close());

async function createCampaign(changes: Record<string, unknown> = {}) {
  const { status, body } = await api.call('POST', '/campaigns', { body: createCampaignBody(changes) });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

describe('the variants of a campaign', () => {
  const variants = [
    { name: 'A', weight: 2 },
    { name: 'B', weight: 1, subject: 'Other news', body: '<p>B</p>', from: 'b@sender.test', fromName: 'B' },
  ];
  const test = { share: 0.1, metric: 'clicks', waitMinutes: 90, minimum: 20 };

  it('are returned as they were given, with the test and its state', async () => {
    const campaign = await createCampaign({ variants, test });
    const none = { testState: 'PENDING', testEndsAt: null, winner: null, winnerBy: null, winnerAt: null };
    expect(campaign).toMatchObject({ variants, test, ...none });
    expect((await api.call('GET', `/campaigns/${campaign.id}`)).body).toEqual(campaign);
    const listed = (await api.call('GET', '/campaigns?limit=1')).body.campaigns[0];
    expect(listed).toEqual(campaign);
    expect(await createCampaign()).toMatchObject({ variants: null, test: null, testState: null });
  });

  it('have defaults: equal weights, the metric opens, 4 hours; null counts as absent', async () => {
    const campaign = await createCampaign({
      variants: [
        { name: 'A', subject: null },
        { name: 'B', body: null, subject: 'Other' },
      ],
      test: { share: 0.5 },
    });
    expect(campaign.variants).toEqual([
      { name: 'A', weight: 1 },
      { name: 'B', weight: 1, subject: 'Other' },
    ]);
    expect(campaign.test).toEqual({ share: 0.5, metric: 'opens', waitMinutes: 240, minimum: 0 });
  });

  it.each([
    ['one variant', { variants: [variants[0]] }, 'variants'],
    ['six variants', { variants: 'abcdef'.split('').map((name) => ({ name, weight: 1 })) }, 'variants'],
    ['the same name twice', { variants: [variants[0], { name: 'a', weight: 1 }] }, 'variants'],
    ['a variant without a name', { variants: [variants[0], { weight: 1 }] }, 'variants.1.name'],
    ['a weight of 0', { variants: [variants[0], { name: 'B', weight: 0 }] }, 'variants.1.weight'],
    ['an invalid sender', { variants: [variants[0], { name: 'B', weight: 1, from: 'x' }] }, 'variants.1.from'],
    [
      'a body that does not parse',
      { variants: [variants[0], { name: 'B', weight: 1, body: '{{' }] },
      'variants.1.body',
    ],
    ['a test without variants', { test }, 'test'],
    ['a share below 0.02', { variants, test: { ...test, share: 0.019 } }, 'test.share'],
    ['a share above 1', { variants, test: { ...test, share: 1.1 } }, 'test.share'],
    ['a test without a share', { variants, test: { metric: 'opens' } }, 'test.share'],
    ['an unknown metric', { variants, test: { ...test, metric: 'sales' } }, 'test.metric'],
    ['a negative wait', { variants, test: { ...test, waitMinutes: -1 } }, 'test.waitMinutes'],
    ['a fractional minimum', { variants, test: { ...test, minimum: 0.5 } }, 'test.minimum'],
  ])('are refused with %s, in POST and PUT', async (_, changes, field) => {
    const { id } = await createCampaign();
    const refused = { status: 422, body: { error: { code: 'VALIDATION_ERROR', errors: [{ field }] } } };
    expect(await api.call('POST', '/campaigns', { body: createCampaignBody(changes) })).toMatchObject(refused);
    expect(await api.call('PUT', `/campaigns/${id}`, { body: changes })).toMatchObject(refused);
  });

  it('need senders that the project may send from', async () => {
    const from = [variants[0], { name: 'B', weight: 1, from: 'b@pending.test' }];
    const refused = await api.call('POST', '/campaigns', { body: createCampaignBody({ variants: from }) });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'DOMAIN_NOT_VERIFIED' } } });
  });

  it('stay if a PUT does not name them; null removes them and the test', async () => {
    const { id } = await createCampaign({ variants, test });
    const replaceCampaign = async (body: Record<string, unknown>) =>
      (await api.call('PUT', `/campaigns/${id}`, { body })).body;
    expect(await replaceCampaign({ name: 'Other' })).toMatchObject({ name: 'Other', variants, test });
    expect(await replaceCampaign({ test: null })).toMatchObject({ variants, test: null });
    expect(await replaceCampaign({ test })).toMatchObject({ variants, test });
    expect(await replaceCampaign({ variants: null })).toMatchObject({ variants: null, test: null });
    expect(await replaceCampaign({ variants })).toMatchObject({ variants, test: null });
    expect(await replaceCampaign({ variants: [] })).toMatchObject({ variants: null, test: null });
  });

  it('are copied with the campaign, without their results', async () => {
    const { id } = await createCampaign({ variants, test });
    await sql`UPDATE campaigns SET winner = 1, winner_by = 'hand', winner_at = now(), test_ends_at = now() WHERE id = ${id}`.execute(
      api.db,
    );
    const copy = (await api.call('POST', `/campaigns/${id}/duplicate`)).body.data;
    expect(copy).toMatchObject({
      variants,
      test,
      testState: 'PENDING',
      testEndsAt: null,
      winner: null,
      winnerBy: null,
    });
  });

  it('each get a test email with their own content', async () => {
    const { id } = await createCampaign({ variants });
    const sendTestAndReadSubject = async (variant?: string) => {
      const sent = await api.call('POST', `/campaigns/${id}/test`, { body: { email: 't@to.test', variant } });
      expect(sent.status, JSON.stringify(sent.body)).toBe(200);
      const { rows } = await sql<{ subject: string; from_email: string }>`
        SELECT k.subject, k.from_email FROM emails e JOIN contents k ON k.id = e.content_id WHERE e.id = ${sent.body.data.emailId}
      `.execute(api.db);
      return rows[0];
    };
    expect(await sendTestAndReadSubject('B')).toEqual({ subject: '[TEST] Other news', from_email: 'b@sender.test' });
    const campaigns = { subject: '[TEST] News for {{firstName}}', from_email: 'news@sender.test' };
    expect(await sendTestAndReadSubject('A')).toEqual(campaigns);
    expect(await sendTestAndReadSubject()).toEqual(campaigns);
    const unknown = await api.call('POST', `/campaigns/${id}/test`, { body: { email: 't@to.test', variant: 'C' } });
    expect(unknown).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'variant' }] } } });
  });

  it('have no winner before the campaign is sent, or if the campaign has no test', async () => {
    const { id } = await createCampaign({ variants, test });
    const chooseWinner = (campaign: string) =>
      api.call('POST', `/campaigns/${campaign}/winner`, { body: { variant: 'B' } });
    expect(await chooseWinner(id)).toMatchObject({ status: 409, body: { error: { details: { status: 'DRAFT' } } } });
    expect((await chooseWinner('0190a000-0000-7000-8000-0000000000ff')).status).toBe(404);
    const untested = (await createCampaign({ variants })).id;
    await api.call('POST', `/campaigns/${untested}/send`);
    expect((await chooseWinner(untested)).status).toBe(409);
    await api.call('POST', `/campaigns/${id}/send`);
    const chosen = await chooseWinner(id);
    expect(chosen).toMatchObject({ status: 200, body: { success: true, data: { winner: 'B', winnerBy: 'hand' } } });
    expect(await chooseWinner(id)).toMatchObject({ status: 409, body: { error: { details: { winner: 'B' } } } });
    expect(api.dispatched.at(-1)).toMatchObject({ kind: 'campaign.changed', refId: id });
    // A campaign that returns to DRAFT clears its winner.
    expect((await api.call('POST', `/campaigns/${id}/cancel`)).body.data).toMatchObject({
      status: 'DRAFT',
      winner: null,
      testState: 'PENDING',
    });
  });

  it('are in the stats, with zeros before the campaign is sent', async () => {
    const { id } = await createCampaign({ variants, test });
    const { body } = await api.call('GET', `/campaigns/${id}/stats`);
    expect(body.variants).toMatchObject([
      { name: 'A', weight: 2, total: 0, sent: 0, winner: false, interval: { low: 0, high: 1 } },
      { name: 'B', weight: 1, total: 0, sent: 0, winner: false, openInterval: { low: 0, high: 1 } },
    ]);
    expect(body.comparison).toMatchObject({ metric: 'clicks', leader: null, significant: false });
    expect(body.comparison.sentence).toContain('not significant');
    expect((await api.call('GET', `/campaigns/${(await createCampaign()).id}/stats`)).body).toMatchObject({
      variants: null,
      comparison: null,
    });
  });
});
