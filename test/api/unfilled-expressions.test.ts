import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { buildVerifiedDomain, postRecord } from '../support/as-code.ts';

let api: TestApi;
let workflow: { id: string };

beforeAll(async () => {
  api = await startTestApi();
  await buildVerifiedDomain(api.db, api.one.id, 'shop.example');
  workflow = await postRecord(api, '/workflows', { name: 'Hooks', slug: 'hooks', eventName: 'e' });
});
afterAll(() => api?.close());

const CONDITION = {
  operator: 'AND',
  conditions: [{ field: 'data.cart', operator: 'equals', value: '{{event.cartId}}' }],
};
const AT = 'conditions.0.value';
const MAIL = { name: 'M', subject: 's', body: '<p>b</p>', from: 'hi@shop.example' };
const SENDER = '"{{brand}}" <hi@shop.example>';
const step = (type: string, config: object) => ({ type, name: 'S', config });

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
  ['STEP', '', step('WAIT_FOR_EVENT', { eventName: '{% if a %}b{% endif %}' }), 'config.eventName'],
  ['STEP', '', step('EXIT', { reason: 'because {{event.reason}}' }), 'config.reason'],
  ['STEP', '', step('UPDATE_CONTACT', { updates: { '{{event.key}}': 1 } }), 'config.updates.{{event.key}}'],
  ['STEP', '', step('SEND_EMAIL', { from: SENDER }), 'config.from'],
  ['STEP', '', step('SEND_SMS', { body: 'Hi', from: '{{event.sender}}' }), 'config.from'],
  [
    'STEP',
    '',
    step('WEBHOOK', { url: 'https://hooks.example/', body: { a: [{ '{{event.key}}': 1 }] } }),
    'config.body.a.0.{{event.key}}',
  ],
])('%s %s refuses an expression that nothing would fill in %j', async (method, path, body, field) => {
  const response =
    method === 'STEP'
      ? await api.call('POST', `/workflows/${workflow.id}/steps`, { body })
      : await api.call(method, path, { body });
  expect([response.status, response.body.error?.errors?.[0]?.field]).toEqual([422, field]);
});

it('a query refuses it too', async () => {
  const condition = encodeURIComponent(JSON.stringify(CONDITION));
  for (const path of ['/contacts', '/contacts/export'])
    expect((await api.call('GET', `${path}?condition=${condition}`)).status, path).toBe(400);
});

it('stored ones are shown, run and stay as they are', async () => {
  const { id } = await postRecord(api, '/segments', {
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
