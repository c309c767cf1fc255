import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildApiKey, startTestApi, type TestApi } from '../../support/api.ts';
import { buildResources, buildVerifiedDomain, createRecord } from '../../support/as-code.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;
let owner: Record<string, string>;

beforeEach(async () => {
  api = await startTestApi();
  owner = await signIn(api, api.two);
});
afterEach(() => api.close());

const exportProject = async (key = api.one.secretKey) => (await api.call('GET', '/project/export', { key })).body;
const apply = (body: object, key = api.two.secretKey) => api.call('POST', '/project/apply', { body, key });
const TEMPLATE = { slug: 'news', name: 'News', subject: 's', body: '<p>b</p>', type: 'MARKETING' };
const exportRecords = async () => {
  const response = await exportProject(api.two.secretKey);
  return { templates: response.templates, segments: response.segments, workflows: response.workflows };
};

describe('the export of a project', () => {
  it('refers to everything by slug, without ids, dates or secrets', async () => {
    const { template, pro } = await buildResources(api);
    const document = await exportProject();
    expect(document.settings).toMatchObject({ tracking: 'ENABLED', color: null, sendRatePerSecond: null });
    expect(document.settings).not.toHaveProperty('name');
    expect(document.templates).toEqual([
      {
        slug: 'welcome',
        name: 'Welcome',
        description: null,
        subject: 'Hi {{firstName}}',
        body: '<p>Hello</p>',
        type: 'MARKETING',
        from: 'hi@shop.example',
        fromName: null,
        replyTo: null,
        preheader: null,
        topic: 'news',
      },
    ]);
    expect(document.segments.map((segment: { slug: string }) => segment.slug)).toEqual([
      'all-of-them',
      'by-hand',
      'pro',
    ]);
    expect(document.segments[0].condition.groups[0].filters[0].field).toBe('segment.pro');
    const [workflow] = document.workflows;
    expect(workflow).toMatchObject({ slug: 'onboarding', eventName: 'signup', enabled: true, entry: 'hello' });
    expect(workflow.steps[0]).toEqual({
      slug: 'hello',
      type: 'SEND_EMAIL',
      name: 'Hello',
      config: { template: 'welcome' },
      position: { x: 1, y: 2 },
    });
    expect(workflow.steps[1].config.groups[0].filters[0].field).toBe('segment.pro');
    // An id in the user's own data, such as the body of a webhook, is not replaced by a slug.
    expect(workflow.steps[2].config).toMatchObject({
      url: 'https://ada:***@hooks.example/in',
      headers: { Authorization: null },
      body: { templateId: template.id, field: `segment.${pro.id}` },
    });
    expect(workflow.transitions).toContainEqual({ from: 'is-pro', to: 'tell-us', branch: 'yes' });
    delete workflow.steps[2].config.body;
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    expect(text).not.toMatch(/createdAt|secret-token|geheim/);
  });

  it('has only records of its own project', async () => {
    await buildResources(api);
    expect(await exportProject(api.two.secretKey)).toMatchObject({ templates: [], segments: [], workflows: [] });
  });

  it('needs the view scopes, or a session that manages the project', async () => {
    const key = await buildApiKey(api.db, api.one.id, ['templates:view', 'segments:view']);
    expect(await api.call('GET', '/project/export', { key })).toMatchObject({
      status: 403,
      body: { error: { details: { requiredScope: 'workflows:view' } } },
    });
    expect((await api.call('GET', '/project/export', { key: null, headers: owner })).status).toBe(200);
  });
});

describe('an export that is applied', () => {
  it('creates the same records in another project; a second apply changes nothing; secrets and unverified senders are findings', async () => {
    await buildResources(api);
    const document = await exportProject();
    const first = await apply(document);
    expect(first, JSON.stringify(first.body)).toMatchObject({ status: 200 });
    expect(first.headers.get('x-ignored-fields')).toBeNull();
    expect(first.body.created.map((made: { kind: string; slug: string }) => `${made.kind} ${made.slug}`)).toEqual([
      'topic news',
      'template welcome',
      'segment pro',
      'segment all-of-them',
      'segment by-hand',
      'workflow onboarding',
    ]);
    expect(first.body.findings.map((finding: { code: string }) => finding.code).sort()).toEqual([
      'secret_missing',
      'secret_missing',
      'sender_not_verified',
      'workflow_not_enabled',
    ]);
    const second = await apply(document);
    expect(second.body).toMatchObject({ created: [], updated: [] });
    expect(second.body.unchanged).toHaveLength(7);

    // After the domain is verified, applying the same document again applies the skipped changes.
    await buildVerifiedDomain(api.db, api.two.id, 'shop.example');
    const third = await apply(document);
    expect(third.body.updated).toEqual([
      { kind: 'template', slug: 'welcome', name: 'Welcome', changes: ['from'] },
      { kind: 'workflow', slug: 'onboarding', name: 'Onboarding', changes: ['enabled'] },
    ]);
    const { templates, segments, workflows } = document;
    workflows[0].steps[2].config.headers = undefined;
    workflows[0].steps[2].config.url = 'https://hooks.example/in';
    expect(await exportRecords()).toEqual(JSON.parse(JSON.stringify({ templates, segments, workflows })));
  });

  it('changes nothing in its own project, and keeps secrets', async () => {
    const { workflow, hook } = await buildResources(api);
    const document = await exportProject();
    const same = await apply(document, api.one.secretKey);
    expect(same.body).toMatchObject({ created: [], updated: [], findings: [] });
    document.workflows[0].steps[2].config.method = 'PUT';
    const changed = await apply(document, api.one.secretKey);
    expect(changed.body.updated).toMatchObject([{ slug: 'onboarding', changes: ['steps.tell-us'] }]);
    expect(changed.body.findings).toEqual([]);
    const step = (await api.call('GET', `/workflows/${workflow.id}`)).body.steps.find(
      ({ id }: { id: string }) => id === hook.id,
    );
    expect(step.config).toMatchObject({ method: 'PUT', url: 'https://ada:***@hooks.example/in' });
    expect(step.config.headers.Authorization).toMatch(/^Bear/);

    // A step with a stored secret and a new host does not get the stored secret.
    document.workflows[0].steps[2].config.url = 'https://elsewhere.example/in';
    const moved = await apply(document, api.one.secretKey);
    expect(moved.body.findings).toMatchObject([
      { code: 'secret_missing', details: { field: 'headers.Authorization' } },
    ]);
    expect((await exportProject()).workflows[0].steps[2].config).not.toHaveProperty('headers');
  });

  it('without headers keeps the stored headers for the same host only, and names each header that a new host loses', async () => {
    await buildResources(api);
    const document = await exportProject();
    const { config } = document.workflows[0].steps[2];
    delete config.headers;
    expect((await apply(document, api.one.secretKey)).body).toMatchObject({ updated: [], findings: [] });
    config.url = 'https://elsewhere.example/in';
    const planned = await apply({ ...document, dryRun: true }, api.one.secretKey);
    expect(planned.body.findings).toMatchObject([
      { code: 'secret_missing', severity: 'warning', details: { step: 'tell-us', field: 'headers.Authorization' } },
    ]);
    config.headers = {};
    const removed = await apply(document, api.one.secretKey);
    expect(removed.body).toMatchObject({ updated: [{ changes: ['steps.tell-us'] }], findings: [] });
  });
});

describe('applying a document', () => {
  it('as a dry run reports all changes and makes none', async () => {
    await buildResources(api);
    const document = await exportProject();
    const dry = await apply({ ...document, dryRun: true });
    expect(dry.body).toMatchObject({ dryRun: true, updated: [] });
    expect(dry.body.created).toHaveLength(6);
    expect(await exportRecords()).toEqual({ templates: [], segments: [], workflows: [] });
    const done = await apply(document);
    expect({ ...done.body, dryRun: true }).toEqual(dry.body);
    expect(api.dispatched).toEqual([]);
  });

  it('changes the given fields and keeps the others', async () => {
    await apply({ templates: [TEMPLATE, { ...TEMPLATE, slug: 'other' }] });
    const response = await apply({ templates: [{ slug: 'news', subject: 'Another', name: 'Renamed' }] });
    expect(response.body).toMatchObject({
      created: [],
      updated: [
        { kind: 'template', slug: 'news', name: 'Renamed', changes: expect.arrayContaining(['name', 'subject']) },
      ],
      unchanged: [],
    });
    expect((await exportRecords()).templates).toMatchObject([
      { slug: 'news', name: 'Renamed', subject: 'Another', body: '<p>b</p>' },
      { slug: 'other', name: 'News' },
    ]);
  });

  it('keeps a renamed step, ends executions at a removed step, and adds new steps', async () => {
    const { workflow, hello, hook } = await buildResources(api);
    const document = await exportProject();
    const [file] = document.workflows;
    file.steps[0].name = 'Hello again';
    file.steps[2] = { slug: 'wait', type: 'DELAY', config: { amount: 1, unit: 'days' } };
    file.transitions = file.transitions.map((t: { from: string; to: string }) =>
      t.to === 'tell-us' ? { ...t, to: 'wait' } : t,
    );
    const contact = await createRecord(api, '/contacts', { email: 'ada@example.com' });
    await sql`
      INSERT INTO executions (project_id, workflow_id, contact_id, entry, status, current_step_id)
      VALUES (${api.one.id}, ${workflow.id}, ${contact.id}, 1, 'WAITING', ${hook.id})`.execute(api.db);
    const response = await apply({ workflows: [file] }, api.one.secretKey);
    expect(response, JSON.stringify(response.body)).toMatchObject({
      status: 200,
      body: { updated: [{ changes: ['steps.tell-us', 'steps.hello', 'steps.wait', 'transitions'] }] },
    });
    const after = (await api.call('GET', `/workflows/${workflow.id}`)).body;
    expect(after.steps.find(({ id }: { id: string }) => id === hello.id)).toMatchObject({
      name: 'Hello again',
      slug: 'hello',
    });
    const { rows } = await sql`SELECT status, exit_reason FROM executions WHERE workflow_id = ${workflow.id}`.execute(
      api.db,
    );
    expect(rows).toEqual([{ status: 'EXITED', exit_reason: 'step_deleted' }]);
    expect((await apply({ workflows: [file] }, api.one.secretKey)).body).toMatchObject({ updated: [] });
  });

  it('applies all changes or none, and names the path of the error', async () => {
    const faults: [object, string][] = [
      [{ templates: [TEMPLATE, { ...TEMPLATE, slug: 'bad', body: '{% for %}' }] }, 'templates.1.body'],
      [{ templates: [TEMPLATE, { ...TEMPLATE, slug: 'bad', preheader: '{{ x' }] }, 'templates.1.preheader'],
      [{ templates: [TEMPLATE, { slug: 'new' }] }, 'templates.1.name'],
      [{ templates: [TEMPLATE, TEMPLATE] }, 'templates.1.slug'],
      [
        { templates: [TEMPLATE], segments: [{ slug: 's', name: 's', condition: { field: 'no' } }] },
        'segments.0.condition.logic',
      ],
      [
        {
          templates: [TEMPLATE],
          segments: [
            { slug: 's', name: 's', condition: createMembershipCondition('s2') },
            { slug: 's2', name: 's2', condition: createMembershipCondition('s') },
          ],
        },
        'segments.0.condition',
      ],
      [
        { templates: [TEMPLATE], segments: [{ slug: 's', name: 's', condition: createMembershipCondition('nobody') }] },
        'segments.0.condition.conditions.0.field',
      ],
      [
        {
          templates: [TEMPLATE],
          workflows: [
            { slug: 'w', name: 'w', steps: [{ slug: 'a', type: 'SEND_EMAIL', config: { template: 'none' } }] },
          ],
        },
        'workflows.0.steps.0.config.template',
      ],
      [
        {
          templates: [TEMPLATE],
          workflows: [
            { slug: 'w', name: 'w', steps: [{ slug: 'a', type: 'DELAY', config: { amount: 0, unit: 'days' } }] },
          ],
        },
        'workflows.0.steps.0.config.amount',
      ],
      [
        {
          templates: [TEMPLATE],
          workflows: [{ slug: 'w', name: 'w', steps: [], transitions: [{ from: 'a', to: 'b' }] }],
        },
        'workflows.0.transitions.0.from',
      ],
      [
        { templates: [TEMPLATE], workflows: [{ slug: 'w', name: 'w', eventName: 'x', enabled: true, steps: [] }] },
        'workflows.0.steps',
      ],
      [{ templates: [TEMPLATE], settings: { tracking: 'SOMETIMES' } }, 'settings.tracking'],
    ];
    for (const [document, field] of faults) {
      const response = await apply(document);
      expect(response, JSON.stringify(response.body)).toMatchObject({ status: 422 });
      expect(response.body.error.errors.map((error: { field: string }) => error.field)).toContain(field);
      expect(await exportRecords()).toEqual({ templates: [], segments: [], workflows: [] });
    }
  });

  it('needs the edit scope of each kind in the document, and the permission project:manage from a user', async () => {
    const key = await buildApiKey(api.db, api.two.id, ['templates:edit']);
    expect((await apply({ templates: [TEMPLATE], segments: [], workflows: [] }, key)).status).toBe(200);
    for (const [kind, scope] of [
      ['topics', 'contacts:edit'],
      ['segments', 'segments:edit'],
      ['workflows', 'workflows:edit'],
    ]) {
      const document = { templates: [TEMPLATE], [kind as string]: [{ slug: 'x', name: 'x' }] };
      expect(await apply(document, key)).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN', details: { requiredScope: scope } } },
      });
    }
    const member = await signIn(api, api.two, 'MEMBER');
    const response = await api.call('POST', '/project/apply', { body: {}, key: null, headers: member });
    expect(response).toMatchObject({ status: 403, body: { error: { details: { requiredScope: 'project:manage' } } } });
  });

  it('changes settings only for a user who manages the project; a key may send unchanged settings', async () => {
    const { settings } = await exportProject(api.two.secretKey);
    expect((await apply({ settings })).body).toMatchObject({ unchanged: [{ kind: 'settings' }] });
    expect(await apply({ settings: { tracking: 'DISABLED' } })).toMatchObject({
      status: 403,
      body: { error: { details: { requiredScope: 'project:manage' } } },
    });
    const body = { settings: { ...settings, tracking: 'DISABLED', monthlyEmailLimit: 5000, colour: 'red' } };
    await sql`UPDATE projects SET operator_monthly_email_limit = 1000 WHERE id = ${api.two.id}`.execute(api.db);
    const response = await api.call('POST', '/project/apply', { body, key: null, headers: owner });
    expect(response.body).toMatchObject({
      updated: [{ kind: 'settings', changes: ['tracking'] }],
      findings: [{ code: 'unknown_setting' }, { code: 'operator_limit', details: { most: 1000 } }],
    });
    expect((await exportProject(api.two.secretKey)).settings).toEqual({ ...settings, tracking: 'DISABLED' });
    const { rows } = await sql`SELECT details FROM audit_log WHERE action = 'project.updated'`.execute(api.db);
    expect(rows).toEqual([{ details: { tracking: 'DISABLED' } }]);
  });

  it('accepts 8 MB of files, and returns 413 for more', async () => {
    const body = `<p>${'x'.repeat(500_000)}</p>`;
    const templates = Array.from({ length: 12 }, (_, i) => ({ ...TEMPLATE, slug: `t${i}`, body }));
    expect(await apply({ templates })).toMatchObject({ status: 200, body: { created: { length: 12 } } });
    const tooMany = Array.from({ length: 18 }, (_, i) => ({ ...TEMPLATE, slug: `t${i}`, body }));
    expect((await apply({ templates: tooMany })).status).toBe(413);
  });

  it('waits for a concurrent apply of the same project', async () => {
    await buildResources(api);
    const document = await exportProject();
    const responses = await Promise.all([apply(document), apply(document), apply(document)]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(responses.map(({ body }) => body.created.length).sort()).toEqual([0, 0, 6]);
  });
});

function createMembershipCondition(slug: string) {
  return { operator: 'AND', conditions: [{ field: `segment.${slug}`, operator: 'memberOf' }] };
}
