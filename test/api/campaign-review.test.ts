import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildDomain } from '../build/senders.ts';
import { buildApiKey, buildProject, startTestApi, type TestApi, type TestProject } from '../support/api.ts';

const CLEAN = '<p>Hello {{firstName ?? you}}. <a href="{{unsubscribeUrl}}">Off</a></p>';

let api: TestApi;
let project: TestProject;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  project = await buildProject(api.db, 'Review');
  await buildDomain(api.db, { projectId: project.id, domain: 'sender.test' });
  await sql`UPDATE domains SET found = '{"DMARC": true}' WHERE project_id = ${project.id}`.execute(api.db);
});
afterAll(() => api?.close());

const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: project.secretKey, body });

async function createAndReview(changes: Record<string, unknown> = {}) {
  const { body } = await call('POST', '/campaigns', createCampaignBody({ subject: 'Hi', body: CLEAN, ...changes }));
  const response = await call('GET', `/campaigns/${body.data.id}/review`);
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body;
}

const listCodes = ({ findings }: { findings: { code: string }[] }) => findings.map(({ code }) => code);

describe('the review of a campaign', () => {
  it('counts recipients and skipped contacts, and finds no problem in a correct campaign', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 8 });
    await sql`UPDATE contacts SET subscribed = false WHERE project_id = ${project.id} AND email IN ('r0@to.test', 'r1@to.test')`.execute(
      api.db,
    );
    await call('POST', '/suppressions', { email: 'r2@to.test', reason: 'manual' });
    expect(await createAndReview()).toEqual({
      audience: 8,
      willSend: 5,
      skipped: { unsubscribed: 2, 'suppressed:manual': 1 },
      estimatedSeconds: 1,
      findings: [],
    });
    const { rows } = await sql`SELECT FROM emails WHERE project_id = ${project.id}`.execute(api.db);
    expect(rows).toEqual([]);
  });

  it('counts recipients that lack a value for a variable without a default', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 3, data: { firstName: 'Ada', city: '' } });
    await buildContacts(api.db, { projectId: project.id, count: 2, localPart: 'bare', data: { address: { zip: 1 } } });
    await buildContact(api.db, { projectId: project.id, subscribed: false });
    const { findings } = await createAndReview({
      subject: 'Hi {{firstName}}',
      body: `<p>{{city}} {{address.zip}} {{plan ?? free}} {% if vip %}{{vip}}{% endif %} {{n}} {{email}} <a href="{{unsubscribeUrl}}">Off</a></p>`,
    });
    expect(findings).toMatchObject([
      {
        code: 'missing_variables',
        severity: 'warning',
        details: { variables: { firstName: 2, city: 5, 'address.zip': 3 } },
      },
    ]);
  });

  it('finds problems with the sender, the project and the audience', async () => {
    await sql`UPDATE domains SET found = '{}' WHERE project_id = ${project.id}`.execute(api.db);
    await sql`UPDATE projects SET held_at = now() WHERE id = ${project.id}`.execute(api.db);
    expect(listCodes(await createAndReview())).toEqual(['dmarc_missing', 'project_held', 'empty_audience']);
    const { body } = await call('POST', '/campaigns', createCampaignBody({ body: CLEAN, subject: 'Hi' }));
    await sql`UPDATE domains SET status = 'FAILED' WHERE project_id = ${project.id}`.execute(api.db);
    const { findings } = (await call('GET', `/campaigns/${body.data.id}/review`)).body;
    expect(findings[0]).toMatchObject({ code: 'sender_not_verified', severity: 'error' });
  });

  it('finds problems with the content', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 1 });
    const images = `<a href="https://bit.ly/x"><img src="https://a.test/a.png"></a>`;
    const body = `${images}<a href="javascript:void(0)"></a><!-- ${'x'.repeat(110_000)} -->`;
    expect(listCodes(await createAndReview({ subject: 'x'.repeat(79), body }))).toEqual([
      'no_text',
      'no_unsubscribe_link',
      'bad_link',
      'link_shortener',
      'image_without_alt',
      'html_too_large',
      'subject_too_long',
    ]);
  });

  it('counts the size of the preheader, ignores links in it, and returns 422 if it does not parse', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 1 });
    const large = `${CLEAN}<!-- ${'x'.repeat(102_300 - CLEAN.length)} -->`;
    expect(listCodes(await createAndReview({ body: large }))).toEqual([]);
    expect(listCodes(await createAndReview({ body: large, preheader: 'Soon' }))).toEqual(['html_too_large']);
    expect(listCodes(await createAndReview({ body: '<p>Hello</p>', preheader: '{{unsubscribeUrl}}' }))).toEqual([
      'no_unsubscribe_link',
    ]);
    const { body } = await call('POST', '/campaigns', createCampaignBody({ body: CLEAN }));
    await sql`UPDATE campaigns SET preheader = '{{ x' WHERE id = ${body.data.id}`.execute(api.db);
    const response = await call('GET', `/campaigns/${body.data.id}/review`);
    expect([response.status, response.body.error?.errors]).toMatchObject([422, [{ field: 'preheader' }]]);
  });

  it('counts recipients that lack a variable of the preheader, also in a variant', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 3, data: { city: 'Bern' } });
    const variants = [{ name: 'A' }, { name: 'B', preheader: '{{plan}} {{city}} {{x ?? y}}' }];
    const { findings } = await createAndReview({ preheader: 'For {{firstName}}', variants });
    expect(findings).toMatchObject([{ code: 'missing_variables', details: { variables: { firstName: 3, plan: 3 } } }]);
  });

  it('names the variants that get no recipient because the audience is too small', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 10 });
    const variants = [{ name: 'A' }, { name: 'B', subject: 'Other' }, { name: 'C', subject: 'Third' }];
    const test = { share: 0.2, metric: 'opens', waitMinutes: 60 };
    expect((await createAndReview({ variants, test })).findings).toMatchObject([
      { code: 'variant_without_reader', severity: 'warning', details: { variants: ['C'] } },
    ]);
    expect(listCodes(await createAndReview({ variants, test: { ...test, share: 0.3 } }))).toEqual([]);
    expect(listCodes(await createAndReview({ variants }))).toEqual([]);
  });

  it('estimates the duration from the send rate', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 30 });
    const setSendRate = (n: number) =>
      sql`UPDATE projects SET send_rate_per_second = ${n} WHERE id = ${project.id}`.execute(api.db);
    await setSendRate(4);
    expect(await createAndReview()).toMatchObject({ estimatedSeconds: 8, findings: [] });
  });

  it('counts contacts beyond the monthly limit', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 5 });
    await sql`UPDATE projects SET monthly_email_limit = 3 WHERE id = ${project.id}`.execute(api.db);
    expect(await createAndReview()).toMatchObject({ audience: 5, willSend: 3, skipped: { limit_reached: 2 } });
  });

  it('counts the emails of the month toward a monthly limit that was set after them', async () => {
    await buildContacts(api.db, { projectId: project.id, count: 5 });
    await buildEmail(api.db, { projectId: project.id });
    await sql`UPDATE projects SET monthly_email_limit = 3 WHERE id = ${project.id}`.execute(api.db);
    expect(await createAndReview()).toMatchObject({ audience: 5, willSend: 2, skipped: { limit_reached: 3 } });
  });

  it('counts no recipients if the segment was deleted', async () => {
    const segment = await call('POST', '/segments', { name: 'S', type: 'STATIC' });
    const { body } = await call(
      'POST',
      '/campaigns',
      createCampaignBody({ audienceType: 'SEGMENT', segmentId: segment.body.id }),
    );
    await sql`UPDATE campaigns SET segment_id = NULL WHERE id = ${body.data.id}`.execute(api.db);
    const response = await call('GET', `/campaigns/${body.data.id}/review`);
    expect([response.status, response.body.audience, response.body.willSend]).toEqual([200, 0, 0]);
    expect(listCodes(response.body)).toContain('empty_audience');
  });
});

describe('the preview of a template', () => {
  const preview = (body: Record<string, unknown>) =>
    call('POST', '/templates/preview', { subject: 'Hi {{firstName}}', ...body });

  it('renders for a contact with additional values, and names missing variables', async () => {
    const contactId = await buildContact(api.db, {
      projectId: project.id,
      email: 'ada@to.test',
      data: { firstName: 'Ada <b>', plan: 'free' },
    });
    const { status, body } = await preview({
      body: '<p>{{firstName}} {{email}} {{plan}} {{city}} {{x ?? y}}</p>',
      contactId,
      data: { plan: 'pro' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      subject: 'Hi Ada <b>',
      html: '<p>Ada &lt;b&gt; ada@to.test pro  y</p>',
      missingVariables: ['city'],
    });
    expect(body.text).toContain('Ada <b> ada@to.test pro');
    expect(listCodes(body)).toEqual(['no_unsubscribe_link', 'missing_variables']);
  });

  it('renders without a contact, and adds the footer to a MARKETING template', async () => {
    const { body } = await preview({ body: '<p>Hello</p>', type: 'MARKETING' });
    expect(body).toMatchObject({ subject: 'Hi', missingVariables: ['firstName'] });
    expect(body.html).toContain('Unsubscribe');
    expect((await preview({ body: '<p>Hello</p>' })).body.html).toBe('<p>Hello</p>');
  });

  it('returns 422 with line and column if the template does not parse', async () => {
    const { status, body } = await preview({ body: '<p>\n{% if %}</p>' });
    expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.error.details).toMatchObject({ line: 2 });
  });

  it('shows the preheader hidden in the HTML, and names its missing variables', async () => {
    const preheader = 'For {{plan}}: 3 < 5 & more {{city}}';
    const { status, body } = await preview({
      body: '<p>Hello</p>',
      preheader,
      data: { firstName: 'Ada', plan: '<b>' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ preheader: 'For <b>: 3 < 5 & more', missingVariables: ['city'], text: 'Hello' });
    expect(body.html).toMatch(/^<div style="display:none[^"]*">For &lt;b&gt;: 3 &#60; 5 &#38; more /);
    expect((await preview({ body: '<p>Hello</p>' })).body.preheader).toBeNull();
  });

  it('returns 422 if the preheader does not parse', async () => {
    const { status, body } = await preview({ body: '<p>Hello</p>', preheader: '{{ x' });
    expect([status, body.error?.errors]).toMatchObject([422, [{ field: 'preheader' }]]);
    expect(body.error.details).toMatchObject({ line: 1 });
  });

  it('is stopped if it takes too long', async () => {
    const { status } = await preview({
      body: '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ b | times: 3 }}{% endfor %}{% endfor %}',
    });
    expect([422, 429]).toContain(status);
  });

  it('shows no contact of another project, and no contact to a key that may not see contacts', async () => {
    const contactId = await buildContact(api.db, { projectId: api.two.id });
    expect((await preview({ body: 'x', contactId })).status).toBe(404);
    const key = await buildApiKey(api.db, project.id, ['templates:view']);
    const own = await buildContact(api.db, { projectId: project.id });
    const previewWithKey = (changes: object) =>
      api.call('POST', '/templates/preview', { key, body: { subject: 'x', body: 'y', ...changes } });
    expect((await previewWithKey({})).status).toBe(200);
    const refused = await previewWithKey({ contactId: own });
    expect([refused.status, refused.body.error.details.requiredScope]).toEqual([403, 'contacts:view']);
  });
});
