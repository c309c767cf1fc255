import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { saveContents } from '../../db/contents/contents.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildSentCampaign } from '../build/recipients.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../support/api.ts';

const OFF = '<a href="{{unsubscribeUrl}}">Off</a>';
const A = `<p>A <a href="https://a.test/">a</a> <a href="https://both.test/">both</a> ${OFF}</p>`;
const B = `<p>B <a href="https://both.test/">both</a> <a href="https://b.test/">b</a> ${OFF}</p>`;
const VARIANTS = [
  { name: 'A', weight: 1 },
  { name: 'B', weight: 1, body: B },
];

let api: TestApi;
let project: TestProject;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  project = await buildProject(api.db, 'Variants');
  await buildDomain(api.db, { projectId: project.id, domain: 'sender.test' });
  await sql`UPDATE domains SET found = '{"DMARC": true}' WHERE project_id = ${project.id}`.execute(api.db);
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: project.secretKey, body });

async function createDraft(changes: Record<string, unknown>): Promise<string> {
  const { status, body } = await call('POST', '/campaigns', createCampaignBody({ subject: 'Hi', body: A, ...changes }));
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.id;
}

/**
 * Builds four recipients, two for each variant, as the start of a campaign does. `texts` are the bodies of the
 * variants.
 */
async function buildCampaign(texts: [string, string]): Promise<string> {
  const id = await buildSentCampaign(api.db, { projectId: project.id, count: 4, body: texts[0] });
  const contents = await saveContents(
    api.db,
    texts.map((body) => ({
      ...NO_TEXT,
      projectId: project.id,
      type: 'MARKETING' as const,
      templateId: null,
      subject: 'Hi',
      body,
      from: 'a@sender.test',
    })),
  );
  await sql`
    UPDATE campaigns SET variants = ${JSON.stringify(VARIANTS)}::jsonb, content_id = ${contents[0]},
      variant_content_ids = ${contents}::uuid[] WHERE id = ${id}`.execute(api.db);
  await sql`
    UPDATE emails e SET variant = n % 2, content_id = (${contents}::uuid[])[n % 2 + 1]
    FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM emails WHERE campaign_id = ${id}) o WHERE o.id = e.id`.execute(
    api.db,
  );
  return id;
}

async function insertClicks(id: string, p: { recipient: number; link: number; clicks: number }) {
  await sql`
    INSERT INTO link_clicks (campaign_id, email_id, link, project_id, content_id, clicks)
    SELECT campaign_id, id, ${p.link}, project_id, content_id, ${p.clicks} FROM emails WHERE campaign_id = ${id}
    ORDER BY id OFFSET ${p.recipient} LIMIT 1`.execute(api.db);
}

const listLinks = async (id: string) => (await call('GET', `/campaigns/${id}/links`)).body.data;
const createClickCounts = (clicks: number, uniqueClicks: number) => ({ clicks, uniqueClicks, machineClicks: 0 });

describe('the links of a campaign with variants', () => {
  it('are the links of all variants, each once, with its total clicks and its clicks for each variant', async () => {
    const id = await buildCampaign([A, B]);
    await insertClicks(id, { recipient: 0, link: 0, clicks: 2 });
    await insertClicks(id, { recipient: 0, link: 1, clicks: 1 });
    await insertClicks(id, { recipient: 1, link: 0, clicks: 3 });
    await insertClicks(id, { recipient: 3, link: 0, clicks: 1 });
    expect(await listLinks(id)).toEqual([
      { url: 'https://a.test/', ...createClickCounts(2, 1), variants: [{ name: 'A', ...createClickCounts(2, 1) }] },
      {
        url: 'https://both.test/',
        ...createClickCounts(5, 3),
        variants: [
          { name: 'A', ...createClickCounts(1, 1) },
          { name: 'B', ...createClickCounts(4, 2) },
        ],
      },
      { url: 'https://b.test/', ...createClickCounts(0, 0), variants: [{ name: 'B', ...createClickCounts(0, 0) }] },
    ]);
  });

  it('are separate for each variant if two variants have the same text', async () => {
    const id = await buildCampaign([A, A]);
    await insertClicks(id, { recipient: 0, link: 0, clicks: 1 });
    await insertClicks(id, { recipient: 1, link: 0, clicks: 2 });
    expect((await listLinks(id))[0].variants).toEqual([
      { name: 'A', ...createClickCounts(1, 1) },
      { name: 'B', ...createClickCounts(2, 1) },
    ]);
  });

  it('are the current links of each variant in a draft', async () => {
    const found = await listLinks(await createDraft({ variants: VARIANTS }));
    expect(
      found.map((link: { url: string; variants: { name: string }[] }) => [
        link.url,
        link.variants.map(({ name }) => name).join(),
      ]),
    ).toEqual([
      ['https://a.test/', 'A'],
      ['https://both.test/', 'A,B'],
      ['https://b.test/', 'B'],
    ]);
    expect((await listLinks(await createDraft({})))[0]).toEqual({
      url: 'https://a.test/',
      ...createClickCounts(0, 0),
      variants: null,
    });
  });
});

describe('the review of a campaign with variants', () => {
  const review = async (changes: Record<string, unknown>) => {
    const { status, body } = await call('GET', `/campaigns/${await createDraft(changes)}/review`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };

  it('checks each variant, and names the variants of a finding', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 2, data: { firstName: 'Ada' } });
    const bad = { body: `<p>{{city}} <a href="javascript:void(0)">x</a> ${OFF}</p>`, subject: 'x'.repeat(79) };
    const { findings } = await review({ variants: [VARIANTS[0], { name: 'B', weight: 1, ...bad }] });
    expect(findings).toMatchObject([
      { code: 'bad_link', details: { variants: ['B'] } },
      { code: 'subject_too_long', details: { variants: ['B'] } },
      { code: 'missing_variables', details: { variables: { city: 2 } } },
    ]);
    const sameSubject = await review({ subject: 'x'.repeat(79), variants: VARIANTS });
    expect(sameSubject.findings).toMatchObject([{ code: 'subject_too_long', details: { characters: 79 } }]);
    expect(sameSubject.findings[0].details.variants).toBeUndefined();
  });

  it('checks the domain of each sender', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 2 });
    await buildDomain(api.db, { projectId: project.id, domain: 'other.test' });
    const variants = [VARIANTS[0], { name: 'B', weight: 1, from: 'b@other.test' }];
    const { findings } = await review({ variants });
    expect(findings).toMatchObject([{ code: 'dmarc_missing', details: { from: 'b@other.test' } }]);
  });

  it('includes the sending window, the local hours and the wait of a test in the duration', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 4, data: { timezone: 'Asia/Tokyo' } });
    await buildContacts(api.db, {
      projectId: project.id,
      count: 4,
      localPart: 'ny',
      data: { timezone: 'America/New_York' },
    });
    const inTwoZones = await review({ sendAtLocal: '2030-12-01T09:00' });
    expect(inTwoZones.estimatedSeconds).toBe(14 * 3600 + 1);
    const test = { share: 0.5, metric: 'opens', waitMinutes: 60, minimum: 0 };
    expect((await review({ variants: VARIANTS, test })).estimatedSeconds).toBe(3601);
    // The sending window is closed during this hour and the next, so the wait is at least an hour.
    const getHour = (plus: number) => `${String((new Date().getUTCHours() + plus) % 24).padStart(2, '0')}:00`;
    const outsideWindow = await review({ sendingWindow: { from: getHour(2), to: getHour(3), timezone: 'UTC' } });
    expect(outsideWindow.estimatedSeconds).toBeGreaterThan(3_590);
  });
});

describe('retrying a campaign with variants', () => {
  it('is refused while the sender of one variant is not verified', async () => {
    const id = await buildCampaign([A, B]);
    await sql`UPDATE emails SET status = 'FAILED', reason = 'expired', sent_at = NULL WHERE campaign_id = ${id}`.execute(
      api.db,
    );
    await buildDomain(api.db, { projectId: project.id, domain: 'other.test', status: 'PENDING' });
    const variants = [VARIANTS[0], { name: 'B', weight: 1, from: 'b@other.test' }];
    await sql`UPDATE campaigns SET variants = ${JSON.stringify(variants)}::jsonb WHERE id = ${id}`.execute(api.db);
    const refused = await call('POST', `/campaigns/${id}/retry`, {});
    expect([refused.status, refused.body.error.code]).toEqual([400, 'DOMAIN_NOT_VERIFIED']);
    await sql`UPDATE domains SET status = 'VERIFIED' WHERE project_id = ${project.id}`.execute(api.db);
    expect((await call('POST', `/campaigns/${id}/retry`, {})).body).toEqual({ requeued: 4 });
  });
});
