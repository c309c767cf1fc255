import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { up } from '../../db/migrations/20261127T1321-nfc-definitions.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

// The same word in two forms: one character for é, and e with an accent that follows it.
const COMPOSED = 'caf\u00e9';
const DECOMPOSED = 'cafe\u0301';

const PAUSE = { pause: { type: 'DELAY' as const, config: { amount: 1, unit: 'days' } } };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const contactOf = async (email: string) =>
  (await api.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)).body.data[0];

describe('text that looks the same is the same', () => {
  it('in the name of an event, and in the field that a workflow renders', async () => {
    expect(COMPOSED).not.toBe(DECOMPOSED);
    const workflow = await buildWorkflow(api, { eventName: DECOMPOSED, steps: PAUSE });
    await expectOk(api.call('POST', '/v1/track', { body: { email: 'event@example.com', event: COMPOSED } }));
    const { body } = await api.call('GET', `/v1/workflows/${workflow.id}/executions`);
    expect(body.data).toHaveLength(1);
    const usage = await api.call('GET', `/v1/events/${encodeURIComponent(DECOMPOSED)}/usage`);
    expect(usage.body.totalCount ?? usage.body.data?.totalCount).toBe(1);
  });

  it('in fields, their values and the filters that ask for them', async () => {
    await expectOk(
      api.call('POST', '/v1/contacts', {
        body: { email: 'field@example.com', data: { [DECOMPOSED]: `${DECOMPOSED} au lait` } },
      }),
    );
    expect((await contactOf('field@example.com')).data).toEqual({ [COMPOSED]: `${COMPOSED} au lait` });
    for (const form of [COMPOSED, DECOMPOSED]) {
      const condition = {
        logic: 'AND',
        groups: [{ filters: [{ field: `data.${form}`, operator: 'equals', value: `${form} au lait` }] }],
      };
      const { body } = await api.call('POST', '/v1/segments/preview', { body: { condition } });
      expect(body.count ?? body.total ?? body.memberCount, JSON.stringify(body)).toBe(1);
    }
  });

  it('escaped in JSON, too', async () => {
    await expectOk(
      api.call('POST', '/v1/contacts', { body: { email: 'escaped@example.com', data: { drink: 'cafe\u0301' } } }),
    );
    expect((await contactOf('escaped@example.com')).data).toEqual({ drink: COMPOSED });
  });
});

it('stored definitions are converted, and others stay as they are', async () => {
  const before = await buildWorkflow(api, { eventName: 'plain', steps: PAUSE });
  const old = await buildWorkflow(api, { eventName: 'other', steps: PAUSE });
  await sql`UPDATE workflows SET event_name = ${DECOMPOSED} WHERE id = ${old.id}`.execute(api.db);
  const versionOf = async (id: string) =>
    api.db.selectFrom('workflows').select(['event_name', 'updated_at']).where('id', '=', id).executeTakeFirst();
  const version = await versionOf(before.id);
  await up(api.db as unknown as Kysely<unknown>);
  expect((await versionOf(old.id))?.event_name).toBe(COMPOSED);
  expect(await versionOf(before.id)).toEqual(version);
});
