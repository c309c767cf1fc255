import { afterAll, beforeAll, expect, it } from 'vitest';
import { MINUTE_MS, toWallTime, writeLocalTime } from '../../rules/time/local-time.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { signIn } from '../support/session.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.db.updateTable('projects').set({ timezone: 'Europe/Berlin' }).where('id', '=', api.one.id).execute();
});
afterAll(() => api?.close());

const createKey = async (expiresAt: string) => {
  const headers = await signIn(api, api.one);
  const body = { name: 'a key', scopes: ['contacts:view'], expiresAt };
  return (await api.call('POST', '/apikeys', { body, headers, key: null })).body;
};

it.each([
  ['with an offset', '2037-07-01T09:00:00+05:30', '2037-07-01T03:30:00.000Z'],
  ['without an offset, in the time zone of the project', '2037-07-01T09:00', '2037-07-01T07:00:00.000Z'],
  ['in winter', '2037-01-01T09:00:00.5', '2037-01-01T08:00:00.500Z'],
  ['that the clocks skip in spring', '2037-03-29T02:30', '2037-03-29T01:30:00.000Z'],
  ['that occurs twice in autumn', '2037-10-25T02:30', '2037-10-25T00:30:00.000Z'],
  ['that is a date without a time, as its start in UTC', '2037-07-01', '2037-07-01T00:00:00.000Z'],
])('the API reads a time %s', async (_, text, instant) => {
  expect(await createKey(text)).toMatchObject({ expiresAt: instant });
});

it.each(['2037-02-30T09:00:00Z', '2037-02-30', '09:00', '1', 'July 1 2037', '2037-07-01T24:00', '2037-07-01T12:60'])(
  'the API refuses the time %s, and shows the accepted form',
  async (text) => {
    const error = { field: 'expiresAt', message: expect.stringContaining('2026-01-31T12:00:00Z') };
    expect(await createKey(text)).toMatchObject({ error: { errors: [error] } });
  },
);

it('times in a query are read in the time zone of the project', async () => {
  await expectOk(api.call('POST', '/v1/contacts', { body: { email: 'now@example.com' } }));
  const formatLocalTime = (minutes: number) =>
    writeLocalTime(toWallTime('Europe/Berlin', Date.now() + minutes * MINUTE_MS));
  const countContacts = async (query: string) => (await api.call('GET', `/v1/contacts?${query}`)).body.data.length;
  expect(await countContacts(`createdAfter=${formatLocalTime(-50)}&createdBefore=${formatLocalTime(50)}`)).toBe(1);
  expect(await countContacts(`createdAfter=${formatLocalTime(10)}`)).toBe(0);
});

it('the start of a preview is read in the time zone of the project', async () => {
  const steps = { pause: { type: 'DELAY' as const, config: { amount: 1, unit: 'hours' } } };
  const workflow = await buildWorkflow(api, { eventName: 'begin', steps });
  const body = { contact: { email: 'ada@example.com' }, startAt: '2037-07-01T09:00' };
  const { body: response } = await api.call('POST', `/v1/workflows/${workflow.id}/preview`, { body });
  expect(JSON.stringify(response)).toContain('2037-07-01T08:00:00.000Z');
});

it('times in filters, and in the data that the filters compare, are read in the time zone of the project', async () => {
  const body = { email: 'zone@example.com', data: { at: '2037-07-01T09:00', list: ['2037-01-01 09:00'] } };
  await expectOk(api.call('POST', '/v1/contacts', { body }));
  const isMatch = async (field: string, operator: string, value: string) => {
    const filter = { operator: 'AND', conditions: [{ field, operator, value }] };
    const preview = await expectOk(api.call('POST', '/v1/segments/preview', { body: { condition: filter } }));
    return preview.count === 1;
  };
  expect(await isMatch('data.at', 'equals', '2037-07-01T07:00:00Z')).toBe(true);
  expect(await isMatch('data.at', 'greaterThan', '2037-07-01T08:00:00Z')).toBe(false);
  expect(await isMatch('data.list', 'contains', '2037-01-01T08:00:00Z')).toBe(true);
  const formatLocalTime = (minutes: number) =>
    writeLocalTime(toWallTime('Europe/Berlin', Date.now() + minutes * MINUTE_MS));
  expect(await isMatch('createdAt', 'greaterThan', formatLocalTime(10))).toBe(false);
});
