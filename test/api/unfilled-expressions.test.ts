import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../db/schema/database.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { buildVerifiedDomain, createRecord } from '../support/as-code.ts';

let api: TestApi;
let workflow: { id: string };

beforeAll(async () => {
  api = await startTestApi();
  await buildVerifiedDomain(api.db, api.one.id, 'shop.example');
  workflow = await createRecord(api, '/workflows', { name: 'Hooks', slug: 'hooks', eventName: 'e' });
});
afterAll(() => api?.close());

const CONDITION = {
  operator: 'AND',
  conditions: [{ field: 'data.cart', operator: 'equals', value: '{{event.cartId}}' }],
};
const AT = 'conditions.0.value';
const MAIL = { name: 'M', subject: 's', body: '<p>b</p>', from: 'hi@shop.example' };
const SENDER = '"{{brand}}" <hi@shop.example>';
const createStepBody = (type: string, config: object) => ({ type, name: 'S', config });

it.each<[string, string, object, string]>([
  ['POST', '/segments', { name: 'S', filters: CONDITION }, `filters.${AT}`],
  ['POST', '/segments/preview', { condition: CONDITION }, `condition.${AT}`],
  ['POST', '/campaigns', { ...MAIL, audienceType: 'FILTERED', audienceFilter: CONDITION }, `audienceFilter.${AT}`],
  ['POST', '/contacts/bulk-delete', { where: { condition: CONDITION } }, `where.condition.${AT}`],
  [
    'POST',
    '/project/apply',
    { segments: [{ slug: 's', name: 'S', condition: CONDITION }] },
    `segments.0.condition.${AT}`,
  ],
  ['POST', '/templates', { ...MAIL, type: 'MARKETING', fromName: '{{brand}}' }, 'fromName'],
  ['POST', '/campaigns', { ...MAIL, audienceType: 'ALL', from: SENDER }, 'from'],
  ['POST', '/v1/webhooks', { url: 'https://hooks.example/{{event.id}}', events: ['*'] }, 'url'],
  ['POST', '/v1/webhooks', { url: 'https://hooks.example/', events: ['order.{{event.kind}}'] }, 'events.0'],
  ['POST', '/workflows', { name: 'W', eventName: 'order.{{event.kind}}' }, 'eventName'],
  ['POST', '/workflows', { name: 'W', eventName: 'e', exitOn: [{ eventName: '{{event.x}}' }] }, 'exitOn.0.eventName'],
  ['STEP', '', createStepBody('WAIT_FOR_EVENT', { eventName: '{% if a %}b{% endif %}' }), 'config.eventName'],
  ['STEP', '', createStepBody('EXIT', { reason: 'because {{event.reason}}' }), 'config.reason'],
  ['STEP', '', createStepBody('UPDATE_CONTACT', { updates: { '{{event.key}}': 1 } }), 'config.updates.{{event.key}}'],
  ['STEP', '', createStepBody('SEND_EMAIL', { from: SENDER }), 'config.from'],
  ['STEP', '', createStepBody('SEND_SMS', { body: 'Hi', from: '{{event.sender}}' }), 'config.from'],
  [
    'STEP',
    '',
    createStepBody('WEBHOOK', { url: 'https://hooks.example/', body: { a: [{ '{{event.key}}': 1 }] } }),
    'config.body.a.0.{{event.key}}',
  ],
])(
  '%s %s refuses an expression in a field whose expressions are never evaluated: %j',
  async (method, path, body, field) => {
    const response =
      method === 'STEP'
        ? await api.call('POST', `/workflows/${workflow.id}/steps`, { body })
        : await api.call(method, path, { body });
    expect([response.status, response.body.error?.errors?.[0]?.field]).toEqual([422, field]);
  },
);

it('GET /contacts and its export refuse an expression in their condition', async () => {
  const condition = encodeURIComponent(JSON.stringify(CONDITION));
  for (const path of ['/contacts', '/contacts/export'])
    expect((await api.call('GET', `${path}?condition=${condition}`)).status, path).toBe(400);
});

it('a stored expression in such a field is shown, works as plain text and stays unchanged', async () => {
  const { id } = await createRecord(api, '/segments', {
    name: 'Old',
    filters: { operator: 'AND', conditions: [{ field: 'data.cart', operator: 'exists' }] },
  });
  await api.db
    .updateTable('segments')
    .set({ condition: JSON.stringify({ logic: 'AND', groups: [{ filters: CONDITION.conditions }] }) })
    .where('id', '=', id)
    .execute();
  const renamed = await api.call('PATCH', `/segments/${id}`, { body: { name: 'Older' } });
  expect([renamed.status, renamed.body.condition.groups[0].filters]).toEqual([200, CONDITION.conditions]);
  expect((await api.call('POST', `/segments/${id}/refresh`)).body).toEqual({ memberCount: 0 });
});

describe('a stored record with an expression in a field whose expressions are never evaluated', () => {
  const BAD_CONDITION = { logic: 'AND', groups: [{ filters: CONDITION.conditions }] };
  const GOOD = { operator: 'AND', conditions: [{ field: 'data.cart', operator: 'exists' }] };

  async function storeAsEarlierRelease(
    table: keyof Database &
      ('templates' | 'campaigns' | 'segments' | 'workflows' | 'webhook_endpoints' | 'workflow_steps'),
    id: string,
    values: object,
  ): Promise<void> {
    await api.db.updateTable(table).set(values).where('id', '=', id).execute();
  }

  async function sendRecordBack(method: 'PATCH' | 'PUT', path: string, change: object = {}) {
    const { body: record } = await api.call('GET', path);
    return { record, response: await api.call(method, path, { body: { ...record, ...change } }) };
  }

  it('keeps its template when it is sent back unchanged, and a changed value is refused', async () => {
    const { id } = await createRecord(api, '/templates', { ...MAIL, type: 'MARKETING' });
    await storeAsEarlierRelease('templates', id, { from_name: '{{brand}}', body: '<p>{% include "x" %}</p>' });
    const { record, response } = await sendRecordBack('PATCH', `/templates/${id}`, { name: 'Renamed' });
    expect(response.body).toMatchObject({ ...record, name: 'Renamed', updatedAt: expect.anything() });
    const changes: [object, string][] = [
      [{ ...record, fromName: '{{other}}' }, 'fromName'],
      [{ ...record, fromName: 'Shop', body: '<p>{% include "y" %}</p>' }, 'body'],
    ];
    for (const [body, field] of changes)
      expect(await callAndReadErrors('PATCH', `/templates/${id}`, body), JSON.stringify(body)).toEqual([422, field]);
    expect((await api.call('PATCH', `/templates/${id}`, { body: { subject: 'New' } })).status).toBe(200);
  });

  it('keeps its campaign when it is sent back unchanged, with variants and audience', async () => {
    const variants = [{ name: 'A' }, { name: 'B', fromName: 'Shop' }];
    const created = await api.call('POST', '/campaigns', {
      body: { ...MAIL, audienceType: 'FILTERED', audienceFilter: GOOD, variants },
    });
    const { id } = created.body.data;
    const stored = created.body.data.variants.map((variant: object) => ({ ...variant, fromName: '{{brand}}' }));
    await storeAsEarlierRelease('campaigns', id, {
      from_name: '{{brand}}',
      audience_filter: JSON.stringify(BAD_CONDITION),
      variants: JSON.stringify(stored),
    });
    const { record, response } = await sendRecordBack('PUT', `/campaigns/${id}`, { subject: 'New' });
    expect(response.body).toMatchObject({ fromName: '{{brand}}', subject: 'New', audienceFilter: BAD_CONDITION });
    expect(response.body.variants).toEqual(record.variants);
    const changed = { ...record, audienceFilter: { ...CONDITION, operator: 'OR' } };
    expect(await callAndReadErrors('PUT', `/campaigns/${id}`, changed)).toEqual([422, `audienceFilter.${AT}`]);
  });

  it('keeps its segment, workflow and webhook endpoint when they are sent back unchanged', async () => {
    const segment = await createRecord(api, '/segments', { name: 'Sent back', filters: GOOD });
    await storeAsEarlierRelease('segments', segment.id, { condition: JSON.stringify(BAD_CONDITION) });
    const hook = await createRecord(api, '/v1/webhooks', { url: 'https://hooks.example/', events: ['*'] });
    await storeAsEarlierRelease('webhook_endpoints', hook.id, {
      url: 'https://hooks.example/{{x}}',
      events: ['{{x}}'],
    });
    const flow = await createRecord(api, '/workflows', { name: 'Old', eventName: 'e' });
    const exitOn = [{ eventName: 'email.opened' }];
    await storeAsEarlierRelease('workflows', flow.id, { event_name: 'order.{{x}}', exit_on: JSON.stringify(exitOn) });
    for (const path of [`/segments/${segment.id}`, `/v1/webhooks/${hook.id}`, `/workflows/${flow.id}`]) {
      const { record, response } = await sendRecordBack('PATCH', path, { description: 'New' });
      expect([response.status, response.body], path).toMatchObject([
        200,
        { ...record, description: 'New', updatedAt: expect.anything() },
      ]);
    }
    const changed = { exitOn: [{ eventName: 'email.clicked' }] };
    expect(await callAndReadErrors('PATCH', `/workflows/${flow.id}`, changed)).toEqual([422, 'exitOn.0.eventName']);
  });

  it('keeps each filter, exit and event, while the others in the same field change', async () => {
    const [older] = CONDITION.conditions;
    const vip = { field: 'data.vip', operator: 'exists' };
    const changed = { logic: 'AND', groups: [{ filters: [vip, older] }] };
    const faulty = { logic: 'AND', groups: [{ filters: [older, { ...older, field: 'data.other' }] }] };

    const segment = await createRecord(api, '/segments', { name: 'Parts', filters: GOOD });
    await storeAsEarlierRelease('segments', segment.id, { condition: JSON.stringify(BAD_CONDITION) });
    const { body: file } = await api.call('GET', '/project/export');
    const inFile = file.segments.find(({ name }: { name: string }) => name === 'Parts');
    const apply = (condition: object) =>
      api.call('POST', '/project/apply', { body: { segments: [{ ...inFile, condition }] } });
    expect((await apply(faulty)).body.error?.errors).toMatchObject([
      { field: 'segments.0.condition.groups.0.filters.1.value' },
    ]);
    expect([
      (await apply(changed)).status,
      (await sendRecordBack('PATCH', `/segments/${segment.id}`)).record,
    ]).toMatchObject([200, { condition: changed }]);
    await storeAsEarlierRelease('segments', segment.id, { condition: JSON.stringify(BAD_CONDITION) });
    expect(await callAndReadErrors('PATCH', `/segments/${segment.id}`, { filters: faulty })).toEqual([
      422,
      'filters.groups.0.filters.1.value',
    ]);
    const patched = await sendRecordBack('PATCH', `/segments/${segment.id}`, { condition: changed });
    expect([patched.response.status, patched.response.body]).toMatchObject([200, { filters: changed }]);

    const created = await api.call('POST', '/campaigns', {
      body: { ...MAIL, audienceType: 'FILTERED', audienceFilter: GOOD },
    });
    const campaign = `/campaigns/${created.body.data.id}`;
    await storeAsEarlierRelease('campaigns', created.body.data.id, { audience_filter: JSON.stringify(BAD_CONDITION) });
    const put = await api.call('PUT', campaign, { body: { audienceFilter: changed } });
    expect([put.status, put.body.audienceFilter]).toEqual([200, changed]);

    const hook = await createRecord(api, '/v1/webhooks', { url: 'https://hooks.example/', events: ['*'] });
    await storeAsEarlierRelease('webhook_endpoints', hook.id, { events: ['email.opened'] });
    const events = ['signup', 'email.opened'];
    const listening = await api.call('PATCH', `/v1/webhooks/${hook.id}`, { body: { events } });
    expect([listening.status, listening.body.events]).toEqual([200, events]);
    expect(
      await callAndReadErrors('PATCH', `/v1/webhooks/${hook.id}`, { events: ['email.opened', 'email.clicked'] }),
    ).toEqual([422, 'events.1']);

    const flow = await createRecord(api, '/workflows', { name: 'Exits', slug: 'exits', eventName: 'e' });
    const opened = { eventName: 'email.opened' };
    await storeAsEarlierRelease('workflows', flow.id, { exit_on: JSON.stringify([opened]) });
    expect(
      await callAndReadErrors('PATCH', `/workflows/${flow.id}`, { exitOn: [opened, { eventName: 'email.clicked' }] }),
    ).toEqual([422, 'exitOn.1.eventName']);
    const exitOn = [{ eventName: 'purchase' }, opened];
    const flowChange = await api.call('PATCH', `/workflows/${flow.id}`, { body: { exitOn } });
    expect([flowChange.status, flowChange.body.exitOn]).toEqual([200, exitOn]);
    const inProject = { slug: 'exits', name: 'Exits', exitOn: [...exitOn, { eventName: 'refund' }] };
    const applied = await api.call('POST', '/project/apply', { body: { workflows: [inProject] } });
    expect([applied.status, applied.body.updated]).toMatchObject([200, [{ slug: 'exits', changes: ['exitOn'] }]]);
  });

  const wait = { field: 'event.cartId', operator: 'equals', value: '{{ x | }}' };
  it.each<[string, object, object, object, string]>([
    ['SEND_EMAIL', {}, { from: { name: '{{brand}}', email: 'hi@shop.example' } }, { from: SENDER }, 'config.from'],
    ['SEND_SMS', { body: 'Hi' }, { body: 'Hi', from: '{{sender}}' }, { from: '{{other}}' }, 'config.from'],
    ['EXIT', {}, { reason: '{{reason}}' }, { reason: '{{other}}' }, 'config.reason'],
    [
      'UPDATE_CONTACT',
      {},
      { updates: { plan: '{{ x | }}' } },
      { updates: { plan: '{{ y | }}' } },
      'config.updates.plan',
    ],
    ['DELAY', { until: '09:00' }, { until: '{{ x | }}' }, { until: '{{ y | }}' }, 'config.until'],
    [
      'WAIT_FOR_EVENT',
      { eventName: 'e' },
      { eventName: 'email.opened', filters: { logic: 'AND', groups: [{ filters: [wait] }] } },
      { eventName: 'email.clicked' },
      'config.eventName',
    ],
    [
      'CONDITION',
      GOOD,
      { logic: 'AND', groups: [{ filters: [wait] }] },
      { groups: [{ filters: [{ ...wait, value: '{{ y | }}' }] }] },
      'config.groups.0.filters.0.value',
    ],
    [
      'WEBHOOK',
      { url: 'https://hooks.example/', headers: { 'X-Key': 'secret' } },
      { url: 'https://hooks.example/{{ x | }}' },
      { url: 'https://hooks.example/{{ y | }}' },
      'config.url',
    ],
  ])('keeps the config of a %s when it is sent back unchanged', async (type, config, stored, change, field) => {
    const { body: added } = await api.call('POST', `/workflows/${workflow.id}/steps`, {
      body: createStepBody(type, config),
    });
    await storeAsEarlierRelease('workflow_steps', added.id, {
      config: sql`config || ${JSON.stringify(stored)}::jsonb`,
    });
    const path = `/workflows/${workflow.id}/steps/${added.id}`;
    const readWorkflow = async () => (await api.call('GET', `/workflows/${workflow.id}`)).body;
    const shown = (await readWorkflow()).steps.find(({ id }: { id: string }) => id === added.id);
    const renamed = await api.call('PATCH', path, { body: { ...shown, name: 'Renamed' } });
    expect([renamed.status, renamed.body]).toMatchObject([200, { name: 'Renamed', config: shown.config }]);
    const { entryStepId, steps, transitions, version } = await readWorkflow();
    const graph = { version, entryStepId, steps, transitions };
    expect((await api.call('PUT', `/workflows/${workflow.id}/graph`, { body: graph })).status).toBe(200);
    const wanted = { config: { ...shown.config, ...change } };
    expect(await callAndReadErrors('PATCH', path, wanted)).toEqual([422, field]);
    const { body: file } = await api.call('GET', '/project/export');
    const applied = await api.call('POST', '/project/apply', { body: { workflows: file.workflows } });
    expect([applied.status, applied.body.updated]).toEqual([200, []]);
  });

  it('allows changes of other values in the same config and condition', async () => {
    const { body: email } = await api.call('POST', `/workflows/${workflow.id}/steps`, {
      body: createStepBody('SEND_EMAIL', {}),
    });
    const from = { name: '{{brand}}', email: 'hi@shop.example' };
    await storeAsEarlierRelease('workflow_steps', email.id, { config: JSON.stringify({ from }) });
    const template = await createRecord(api, '/templates', { ...MAIL, type: 'MARKETING' });
    const config = { from, templateId: template.id };
    const changed = await api.call('PATCH', `/workflows/${workflow.id}/steps/${email.id}`, { body: { config } });
    expect([changed.status, changed.body.config]).toEqual([200, config]);
    const { body: choice } = await api.call('POST', `/workflows/${workflow.id}/steps`, {
      body: createStepBody('CONDITION', GOOD),
    });
    const stored = { logic: 'AND', groups: [{ filters: [wait] }] };
    await storeAsEarlierRelease('workflow_steps', choice.id, { config: JSON.stringify(stored) });
    const wanted = { logic: 'AND', groups: [{ filters: [{ field: 'data.vip', operator: 'exists' }, wait] }] };
    const path = `/workflows/${workflow.id}/steps/${choice.id}`;
    expect((await api.call('PATCH', path, { body: { config: wanted } })).body.config).toEqual(wanted);
    const other = { ...wait, field: 'event.orderId' };
    const moved = { config: { logic: 'AND', groups: [{ filters: [other] }] } };
    expect(await callAndReadErrors('PATCH', path, moved)).toEqual([422, 'config.groups.0.filters.0.value']);
  });

  it('is exported and applied without a change', async () => {
    const { body: file } = await api.call('GET', '/project/export');
    const applied = await api.call('POST', '/project/apply', { body: file });
    expect([applied.status, applied.body.updated, applied.body.created]).toEqual([200, [], []]);
    const [first] = file.templates.filter(({ fromName }: { fromName: string | null }) => fromName === '{{brand}}');
    const changed = { templates: [{ ...first, fromName: '{{other}}' }] };
    expect(await callAndReadErrors('POST', '/project/apply', changed)).toEqual([422, 'templates.0.fromName']);
  });
});

async function callAndReadErrors(method: string, path: string, body: object): Promise<unknown[]> {
  const response = await api.call(method, path, { body });
  return [response.status, response.body.error?.errors?.[0]?.field];
}
