import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { up } from '../../../db/migrations/20261123T0708-campaign-slugs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { buildApiKey, startTestApi, type TestApi } from '../../support/api.ts';
import { buildVerifiedDomain } from '../../support/as-code.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startTestApi();
  await buildVerifiedDomain(api.db, api.one.id, 'shop.example');
});
afterEach(() => api.close());

const TEST = { share: 0.2, metric: 'clicks', waitMinutes: 90, minimum: 5 };
const FILE = {
  slug: 'news',
  name: 'News',
  subject: 'Hi {{firstName}}',
  body: '<p>Hello</p>',
  from: 'hi@shop.example',
  audienceType: 'ALL',
  variants: [
    { name: 'A', weight: 1 },
    { name: 'B', weight: 3, subject: 'Good day', body: '<p>Good day</p>' },
  ],
  test: TEST,
};
const apply = (campaigns: object[], key = api.one.secretKey, more: object = {}) =>
  api.call('POST', '/project/apply', { body: { campaigns, ...more }, key });
const exportProject = async (key = api.one.secretKey) => (await api.call('GET', '/project/export', { key })).body;
const listCampaigns = async (): Promise<{ id: string; slug: string }[]> =>
  (await api.call('GET', '/campaigns')).body.campaigns;

describe('a campaign in a file that is applied', () => {
  it('becomes a draft with its variants and test, and is exported unchanged; a second apply changes nothing', async () => {
    const { body } = await apply([FILE]);
    expect(body).toMatchObject({ created: [{ kind: 'campaign', slug: 'news', name: 'News' }], findings: [] });
    const [campaign] = await listCampaigns();
    expect(campaign).toMatchObject({ status: 'DRAFT', slug: 'news', variants: FILE.variants, test: TEST });
    const { campaigns: files } = await exportProject();
    expect(files).toEqual([
      {
        ...FILE,
        description: null,
        preheader: null,
        fromName: null,
        replyTo: null,
        segment: null,
        topic: null,
        audienceFilter: null,
        sendingWindow: 'project',
        sendAtLocal: null,
        latePolicy: 'SEND',
      },
    ]);
    expect((await apply(files)).body).toMatchObject({ created: [], updated: [], unchanged: [{ slug: 'news' }] });
  });

  it('changes the fields that differ, and keeps the fields that the file omits', async () => {
    await apply([FILE]);
    const test = { ...TEST, metric: 'opens' };
    const { body } = await apply([{ slug: 'news', test, sendAtLocal: '2030-01-01T09:00', sendingWindow: null }]);
    expect(body.updated).toEqual([
      { kind: 'campaign', slug: 'news', name: 'News', changes: ['test', 'sendingWindow', 'sendAtLocal'] },
    ]);
    const [campaign] = await listCampaigns();
    expect(campaign).toMatchObject({
      test,
      variants: FILE.variants,
      sendAtLocal: '2030-01-01T09:00',
      sendingWindow: null,
    });
    expect((await apply([{ slug: 'news', variants: null }])).body.updated[0].changes).toEqual(['variants', 'test']);
  });

  it('refers to segments and topics by slug, also to new ones in the same file', async () => {
    const filters = { operator: 'AND', conditions: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] };
    const more = {
      topics: [{ slug: 'offers', name: 'Offers' }],
      segments: [{ slug: 'pro', name: 'Pro', condition: filters }],
    };
    const condition = { field: 'segment.pro', operator: 'memberOf' };
    const files = [
      { ...FILE, audienceType: 'SEGMENT', segment: 'pro', topic: 'offers' },
      {
        ...FILE,
        slug: 'filtered',
        audienceType: 'FILTERED',
        audienceFilter: { operator: 'AND', conditions: [condition] },
      },
    ];
    expect((await apply(files, undefined, more)).status).toBe(200);
    const { campaigns: [filtered, news] = [] } = await exportProject();
    expect(news).toMatchObject({ segment: 'pro', topic: 'offers', audienceFilter: null });
    expect(filtered.audienceFilter.groups[0].filters[0]).toEqual(condition);
  });

  it.each<[string, object, string]>([
    ['one variant', { variants: [{ name: 'A' }] }, 'variants'],
    ['two variants with the same name', { variants: [{ name: 'A' }, { name: 'a' }] }, 'variants'],
    ['a test without variants', { variants: null }, 'test'],
    ['a share above 1', { test: { share: 2 } }, 'test.share'],
    ['an unknown metric', { test: { share: 0.1, metric: 'luck' } }, 'test.metric'],
    [
      'a variant that does not parse',
      { variants: [{ name: 'A' }, { name: 'B', body: '{% for %}' }] },
      'variants.1.body',
    ],
    ['a preheader that does not parse', { preheader: '{{ x' }, 'preheader'],
    [
      'a preheader of a variant that does not parse',
      { variants: [{ name: 'A' }, { name: 'B', preheader: '{{ x' }] },
      'variants.1.preheader',
    ],
    ['an unknown segment', { audienceType: 'SEGMENT', segment: 'nobody' }, 'segment'],
    ['no audience', { audienceType: undefined }, 'audienceType'],
    ['a time with a zone', { sendAtLocal: '2030-01-01T09:00Z' }, 'sendAtLocal'],
  ])('is refused with %s, and the error names the field', async (_, changes, field) => {
    const response = await apply([FILE, { ...FILE, slug: 'bad', ...changes }]);
    expect(response, JSON.stringify(response.body)).toMatchObject({ status: 422 });
    expect(response.body.error.errors.map((error: { field: string }) => error.field)).toContain(`campaigns.1.${field}`);
    expect(await listCampaigns()).toEqual([]);
  });

  it('does not change after it has started, is reported as a finding, and is not exported', async () => {
    await apply([FILE]);
    await sql`UPDATE campaigns SET status = 'SENT'`.execute(api.db);
    expect((await apply([{ ...FILE, subject: 'Late' }])).body).toMatchObject({
      created: [],
      updated: [],
      unchanged: [{ kind: 'campaign', slug: 'news' }],
      findings: [{ code: 'campaign_begun', details: { status: 'SENT' } }],
    });
    expect((await listCampaigns())[0]).toMatchObject({ subject: FILE.subject });
    expect((await exportProject()).campaigns).toEqual([]);
  });

  it('is not created if its sender is not verified; an existing campaign keeps its verified sender, and its other changes apply', async () => {
    const [, b] = FILE.variants;
    await apply([FILE]);
    const variants = [FILE.variants[0], { ...b, from: 'b@elsewhere.example' }];
    const { body } = await apply([
      { ...FILE, slug: 'new', from: 'a@elsewhere.example' },
      { ...FILE, subject: 'Changed', variants },
    ]);
    expect(body).toMatchObject({ created: [], updated: [{ slug: 'news', changes: ['subject'] }] });
    expect(body.findings.map((finding: { details: object }) => finding.details)).toEqual([
      { kind: 'campaign', slug: 'new', from: 'a@elsewhere.example' },
      { kind: 'campaign', slug: 'news', from: 'b@elsewhere.example' },
    ]);
    await sql`UPDATE domains SET status = 'PENDING'`.execute(api.db);
    expect((await apply([{ ...FILE, subject: 'Again' }])).body).toMatchObject({ updated: [], findings: [{}] });
  });

  it('needs a key with the campaign scopes', async () => {
    const views = ['templates:view', 'segments:view', 'workflows:view', 'contacts:view'] as const;
    const key = await buildApiKey(api.db, api.one.id, [...views]);
    expect(await exportProject(key)).not.toHaveProperty('campaigns');
    expect(await apply([FILE], key)).toMatchObject({
      status: 403,
      body: { error: { details: { requiredScope: 'campaigns:edit' } } },
    });
  });
});

describe('the slug of a campaign', () => {
  const { slug: _, ...body } = FILE;
  const createCampaign = async (more: object = {}) =>
    (await api.call('POST', '/campaigns', { body: { ...body, ...more } })).body;

  it('is derived from the name, stays when the name changes, and is unique', async () => {
    const [first, second] = [(await createCampaign()).data, (await createCampaign()).data];
    expect([first.slug, second.slug]).toEqual(['news', 'news-2']);
    const replaceCampaign = (change: object) => api.call('PUT', `/campaigns/${second.id}`, { body: change });
    expect((await replaceCampaign({ name: 'Other' })).body).toMatchObject({ name: 'Other', slug: 'news-2' });
    expect((await replaceCampaign({ slug: 'chosen' })).body.slug).toBe('chosen');
    expect(await replaceCampaign({ slug: 'news' })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    });
    expect((await createCampaign({ slug: 'news' })).error.code).toBe('CONFLICT');
    expect((await api.call('POST', `/campaigns/${first.id}/duplicate`)).body.data.slug).toBe('news-copy');
  });

  it('is unique for each of many concurrent campaigns', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => createCampaign({ name: 'At once' })));
    expect(new Set(all.map(({ data }) => data.slug)).size).toBe(6);
  });

  it('is given to earlier campaigns by the migration; the oldest campaign of a name gets no number', async () => {
    const slugs = await inTransaction(api.db, async (trx) => {
      await sql`ALTER TABLE campaigns DROP COLUMN slug`.execute(trx);
      await sql`
        INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type)
        SELECT ${api.two.id}, 'Many of a name', 's', 'b', 'a@b.test', 'ALL' FROM generate_series(1, 1100)
      `.execute(trx);
      await up(trx as unknown as Kysely<unknown>);
      const { rows } = await sql<{ slug: string }>`
        SELECT slug FROM campaigns WHERE project_id = ${api.two.id} ORDER BY id`.execute(trx);
      return rows.map((row) => row.slug);
    });
    expect([slugs[0], slugs[1], slugs.at(-1)]).toEqual(['many-of-a-name', 'many-of-a-name-2', 'many-of-a-name-1100']);
  });
});
