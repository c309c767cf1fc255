import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => {
  await api.close();
});

async function addStep(type: string, config: Record<string, unknown>) {
  const workflow = await api.call('POST', '/workflows', { body: { name: 'Steps', eventName: 'signup' } });
  return api.call('POST', `/workflows/${workflow.body.id}/steps`, { body: { type, config } });
}

const TWICE = { 'Content-Type': 'text/plain', 'content-type': 'application/json' };
const LONG_NAME = 'x'.repeat(101);

describe('the configuration of a step', () => {
  it.each([
    ['DELAY', { amount: 1, unit: 'years' }, 'config.unit', 'invalid_enum_value'],
    ['DELAY', { amount: 0, unit: 'days' }, 'config.amount', 'too_small'],
    ['DELAY', { amount: 366, unit: 'days' }, 'config.amount', 'custom'],
    ['DELAY', {}, 'config.amount', 'invalid_type'],
    ['DELAY', { until: 'soon' }, 'config.until', 'invalid_string'],
    ['WAIT_FOR_EVENT', { eventName: 'email.opened' }, 'config.eventName', 'unknown_event'],
    ['DELAY', { until: '12:60' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: 'Table 7' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: 'day 8' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: '1' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: '2027-02-30T09:00:00Z' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: 'May 5 2027' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: '2027-01-31T24:30:00Z' }, 'config.until', 'invalid_string'],
    ['DELAY', { until: '2030-01-01T00:00:00Z', timezone: 'Europe/Berlin' }, 'config.timezone', 'custom'],
    ['WAIT_FOR_EVENT', { eventName: 'paid', timeout: 31_536_001 }, 'config.timeout', 'too_big'],
    ['UPDATE_CONTACT', { updates: { '': 1 } }, 'config.updates', 'too_small'],
    ['UPDATE_CONTACT', { updates: { [LONG_NAME]: 1 } }, `config.updates.${LONG_NAME}`, 'too_big'],
    ['WEBHOOK', { url: '{{scheme}}://example.com' }, 'config.url', 'invalid_string'],
    ['WEBHOOK', { url: 'https://example.com:99999' }, 'config.url', 'invalid_string'],
    ['WEBHOOK', { url: 'https://exa mple.com/' }, 'config.url', 'invalid_string'],
    ['WEBHOOK', { url: 'https://a.example', headers: TWICE }, 'config.headers.content-type', 'duplicate_field'],
  ])(
    'the configuration of %s is refused and the error names the field with the error: %j',
    async (type, config, field, code) => {
      const response = await addStep(type, config);
      expect(response).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } });
      expect(response.body.error.errors).toContainEqual({ field, code, message: expect.any(String) });
    },
  );

  it.each([
    ['DELAY', { amount: 365, unit: 'days' }],
    ['DELAY', { until: '2030-01-01T00:00:00Z' }],
    ['DELAY', { until: '2030-01-01T00:00', timezone: 'Europe/Berlin' }],
    ['DELAY', { until: '{{renewsAt}}' }],
    ['WAIT_FOR_EVENT', { eventName: 'paid', filters: [] }],
    ['WAIT_FOR_EVENT', { eventName: 'paid', filters: [{ field: 'amount', operator: 'greaterThan', value: 5 }] }],
  ])('the configuration of %s is accepted: %j', async (type, config) => {
    expect((await addStep(type, config)).status).toBe(201);
  });
});

describe('an expression in a step', () => {
  const bad = 'one\n  {{ event.x | nofilter }}';
  const filters = [{ field: 'cartId', operator: 'equals', value: bad }];
  it.each([
    ['UPDATE_CONTACT', { updates: { a: { b: [bad] } } }, 'config.updates.a.b.0'],
    ['WEBHOOK', { url: `https://a.example/${bad}` }, 'config.url'],
    ['WEBHOOK', { url: 'https://a.example', headers: { 'X-A': bad } }, 'config.headers.X-A'],
    ['WEBHOOK', { url: 'https://a.example', body: { n: bad } }, 'config.body.n'],
    ['WEBHOOK', { url: 'https://a.example', body: bad }, 'config.body'],
    ['DELAY', { until: bad }, 'config.until'],
    ['SEND_SMS', { body: bad }, 'config.body'],
    ['SEND_EMAIL', { recipient: { type: 'CUSTOM', customEmail: bad } }, 'config.recipient.customEmail'],
    ['CONDITION', { field: 'data.plan', operator: 'equals', value: bad }, 'config.value'],
    ['WAIT_FOR_EVENT', { eventName: 'paid', filters }, 'config.filters.0.value'],
  ])('is refused in %s, and the error names the field: %j', async (type, config, field) => {
    const { status, body } = await addStep(type, config);
    expect(status).toBe(422);
    expect(body.error.errors).toContainEqual({
      field,
      code: 'custom',
      message: expect.stringMatching(/nofilter.*\(line 2, column \d+\)$/),
    });
  });

  it.each([
    ['UPDATE_CONTACT', (text: string) => ({ updates: { a: text } })],
    ['WEBHOOK', (text: string) => ({ url: 'https://a.example', body: text })],
    ['DELAY', (text: string) => ({ until: text })],
    ['SEND_SMS', (text: string) => ({ body: text })],
  ])('is refused in %s if it is unfinished', async (type, config) => {
    for (const text of ['{{ event.total | }}', '{{ event. }}']) {
      const { status, body } = await addStep(type, config(text));
      expect(status).toBe(422);
      expect(body.error.errors[0].message).toMatch(/^An expression cannot end in "[.|]" \(line 1, column \d\)$/);
    }
  });

  it('is refused in exitOn and where its braces are not closed', async () => {
    const exitOn = [{ eventName: 'paid', filters }];
    const exits = await api.call('POST', '/workflows', { body: { name: 'E', exitOn } });
    expect(exits).toMatchObject({ status: 422, body: { error: { errors: [{ field: 'exitOn.0.filters.0.value' }] } } });
    for (const text of ['{{ event.x', 'a {{ }}', '{{ first name }}', '{{ "x }}'])
      expect((await addStep('UPDATE_CONTACT', { updates: { a: text } })).status, text).toBe(422);
  });

  it('may be the typed value of a filter', async () => {
    const value = '{{ event.days | plus: 1 }}';
    const config = { field: 'data.since', operator: 'olderThan', value, unit: 'days' };
    expect((await addStep('CONDITION', config)).status).toBe(201);
    expect(
      (await addStep('CONDITION', { field: 'createdAt', operator: 'lessThan', value: '{{event.at}}' })).status,
    ).toBe(201);
  });

  it('stays a string in an older step, and the check names the required change', async () => {
    const workflow = await api.call('POST', '/workflows', { body: { name: 'Older', eventName: 'signup' } });
    const path = `/workflows/${workflow.body.id}/steps`;
    const added = await api.call('POST', path, { body: { type: 'UPDATE_CONTACT', config: { updates: { a: 'x' } } } });
    const config = JSON.stringify({ updates: { email: 'x', a: bad } });
    await sql`UPDATE workflow_steps SET config = ${config}::jsonb WHERE id = ${added.body.id}`.execute(api.db);
    const enabled = await api.call('PATCH', `/workflows/${workflow.body.id}`, { body: { enabled: true } });
    expect(JSON.stringify(enabled.body)).toMatch(/updates\.email/);
    expect(JSON.stringify(enabled.body)).toMatch(/updates\.a: .*line 2/);
  });
});

it('an event that cannot happen is refused in every field, and the nearest event name is suggested', async () => {
  const { id } = (await api.call('POST', '/workflows', { body: { name: 'Doors' } })).body;
  const opened = { field: 'event.email.opened', operator: 'triggered' };
  const condition = { logic: 'AND', groups: [{ filters: [opened] }] };
  const requests: [string, string, object][] = [
    ['POST', '/workflows', { name: 'W', eventName: 'email.opened' }],
    ['POST', '/workflows', { name: 'W', triggerConfig: { eventName: 'email.opened' } }],
    ['PATCH', `/workflows/${id}`, { eventName: 'email.opened' }],
    ['PATCH', `/workflows/${id}`, { exitOn: [{ eventName: 'email.opened' }] }],
    ['POST', `/workflows/${id}/steps`, { type: 'CONDITION', name: 'c', config: condition }],
    ['POST', '/segments', { name: 'S', condition }],
    ['POST', '/webhooks', { url: 'https://a.example/', events: ['email.opened'] }],
  ];
  for (const [method, path, body] of requests) {
    const { status, body: response } = await api.call(method, path, { body });
    expect([path, status, JSON.stringify(response)]).toEqual([
      path,
      422,
      expect.stringContaining('Did you mean email.open'),
    ]);
  }
});
