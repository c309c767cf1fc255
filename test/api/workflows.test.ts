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
    ['WEBHOOK', { url: '{{scheme}}://example.com' }, 'config.url', 'invalid_string'],
  ])('of %s is refused at the field at fault: %j', async (type, config, field, code) => {
    const answer = await addStep(type, config);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(answer.body.error.errors).toContainEqual({ field, code, message: expect.any(String) });
  });

  it.each([
    ['DELAY', { amount: 365, unit: 'days' }],
    ['DELAY', { until: '2030-01-01T00:00:00Z' }],
    ['DELAY', { until: '2030-01-01T00:00', timezone: 'Europe/Berlin' }],
    ['DELAY', { until: '{{renewsAt}}' }],
    ['WAIT_FOR_EVENT', { eventName: 'paid', filters: [] }],
    ['WAIT_FOR_EVENT', { eventName: 'paid', filters: [{ field: 'amount', operator: 'greaterThan', value: 5 }] }],
  ])('of %s is kept: %j', async (type, config) => {
    expect((await addStep(type, config)).status).toBe(201);
  });
});

it('refuses an event that cannot happen at every door, and names the nearest', async () => {
  const { id } = (await api.call('POST', '/workflows', { body: { name: 'Doors' } })).body;
  const opened = { field: 'event.email.opened', operator: 'triggered' };
  const condition = { logic: 'AND', groups: [{ filters: [opened] }] };
  const doors: [string, string, object][] = [
    ['POST', '/workflows', { name: 'W', eventName: 'email.opened' }],
    ['POST', '/workflows', { name: 'W', triggerConfig: { eventName: 'email.opened' } }],
    ['PATCH', `/workflows/${id}`, { eventName: 'email.opened' }],
    ['PATCH', `/workflows/${id}`, { exitOn: [{ eventName: 'email.opened' }] }],
    ['POST', `/workflows/${id}/steps`, { type: 'CONDITION', name: 'c', config: condition }],
    ['POST', '/segments', { name: 'S', condition }],
    ['POST', '/webhooks', { url: 'https://a.example/', events: ['email.opened'] }],
  ];
  for (const [method, path, body] of doors) {
    const { status, body: answer } = await api.call(method, path, { body });
    expect([path, status, JSON.stringify(answer)]).toEqual([
      path,
      422,
      expect.stringContaining('Did you mean email.open'),
    ]);
  }
});
