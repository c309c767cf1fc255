import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { up } from '../../db/migrations/20261127T1321-nfc-definitions.ts';
import { up as convertData } from '../../db/migrations/20261127T1345-nfc-data.ts';
import { up as convertRunning } from '../../db/migrations/20261127T1425-nfc-running.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

// The same word in two Unicode forms: é as one character, and as e followed by an accent.
const COMPOSED = 'caf\u00e9';
const DECOMPOSED = 'cafe\u0301';

const PAUSE = { pause: { type: 'DELAY' as const, config: { amount: 1, unit: 'days' } } };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const findContact = async (email: string) =>
  (await api.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)).body.data[0];

describe('strings that look the same (in different Unicode forms) are equal', () => {
  it('in the name of an event that starts a workflow, and in the usage of the event', async () => {
    expect(COMPOSED).not.toBe(DECOMPOSED);
    const workflow = await buildWorkflow(api, { eventName: DECOMPOSED, steps: PAUSE });
    await expectOk(api.call('POST', '/v1/track', { body: { email: 'event@example.com', event: COMPOSED } }));
    const { body } = await api.call('GET', `/v1/workflows/${workflow.id}/executions`);
    expect(body.data).toHaveLength(1);
    const usage = await api.call('GET', `/v1/events/${encodeURIComponent(DECOMPOSED)}/usage`);
    expect(usage.body.totalCount ?? usage.body.data?.totalCount).toBe(1);
  });

  it('in contact fields, their values and filters on them', async () => {
    await expectOk(
      api.call('POST', '/v1/contacts', {
        body: { email: 'field@example.com', data: { [DECOMPOSED]: `${DECOMPOSED} au lait` } },
      }),
    );
    expect((await findContact('field@example.com')).data).toEqual({ [COMPOSED]: `${COMPOSED} au lait` });
    for (const form of [COMPOSED, DECOMPOSED]) {
      const condition = {
        logic: 'AND',
        groups: [{ filters: [{ field: `data.${form}`, operator: 'equals', value: `${form} au lait` }] }],
      };
      const { body } = await api.call('POST', '/v1/segments/preview', { body: { condition } });
      expect(body.count ?? body.total ?? body.memberCount, JSON.stringify(body)).toBe(1);
    }
  });

  it('also if the text is escaped in JSON', async () => {
    await expectOk(
      api.call('POST', '/v1/contacts', { body: { email: 'escaped@example.com', data: { drink: 'cafe\u0301' } } }),
    );
    expect((await findContact('escaped@example.com')).data).toEqual({ drink: COMPOSED });
  });
});

it('stored definitions are converted to one form, and other data stays unchanged', async () => {
  const before = await buildWorkflow(api, { eventName: 'plain', steps: PAUSE });
  const old = await buildWorkflow(api, { eventName: 'other', steps: PAUSE });
  await sql`UPDATE workflows SET event_name = ${DECOMPOSED} WHERE id = ${old.id}`.execute(api.db);
  const readVersion = async (id: string) =>
    api.db.selectFrom('workflows').select(['event_name', 'updated_at']).where('id', '=', id).executeTakeFirst();
  const version = await readVersion(before.id);
  await up(api.db as unknown as Kysely<unknown>);
  expect((await readVersion(old.id))?.event_name).toBe(COMPOSED);
  expect(await readVersion(before.id)).toEqual(version);
});

it('an accent behind an escaped line break survives the conversion of stored definitions', async () => {
  const { id } = await buildWorkflow(api, { eventName: 'broken-lines', steps: PAUSE });
  const listSteps = () => api.db.selectFrom('workflow_steps').select('config').where('workflow_id', '=', id).execute();
  const config = { amount: 1, unit: 'days', note: `one\n\u0301 ${DECOMPOSED}` };
  await sql`UPDATE workflow_steps SET config = ${JSON.stringify(config)} WHERE workflow_id = ${id}`.execute(api.db);
  await up(api.db as unknown as Kysely<unknown>);
  expect((await listSteps()).map((step) => step.config)).toContainEqual({ ...config, note: `one\n\u0301 ${COMPOSED}` });
});

it('stored contact data and event names are converted, and a second run changes nothing', async () => {
  const email = 'stored@example.com';
  await expectOk(api.call('POST', '/v1/track', { body: { email, event: 'visited' } }));
  const data = {
    [DECOMPOSED]: 'of the older form',
    [COMPOSED]: 'of the composed form',
    nested: { [DECOMPOSED]: [`${DECOMPOSED} au lait`, 'line\n\u0301'] },
  };
  await sql`
    UPDATE contacts SET data = ${JSON.stringify(data)}, untrusted_keys = ${[DECOMPOSED, COMPOSED]}::text[]
    WHERE email = ${email}
  `.execute(api.db);
  await sql`UPDATE events SET name = ${DECOMPOSED} WHERE name = 'visited'`.execute(api.db);
  for (let run = 1; run <= 2; run += 1) {
    await convertData(api.db as unknown as Kysely<unknown>);
    const [contact] = await api.db.selectFrom('contacts').selectAll().where('email', '=', email).execute();
    expect(contact?.data).toEqual({
      [COMPOSED]: 'of the composed form',
      nested: { [COMPOSED]: [`${COMPOSED} au lait`, 'line\n\u0301'] },
    });
    expect(contact?.untrusted_keys).toEqual([COMPOSED]);
    const events = await api.db
      .selectFrom('events')
      .select('name')
      .where('contact_id', '=', contact?.id ?? '')
      .execute();
    expect(events.map((event) => event.name)).toContain(COMPOSED);
  }
});

it('open executions, waits and webhooks are converted', async () => {
  const wait = { type: 'WAIT_FOR_EVENT' as const, config: { eventName: 'later', timeout: 3_600 } };
  const { id } = await buildWorkflow(api, { eventName: 'open-one', steps: { wait } });
  await expectOk(api.call('POST', '/v1/track', { body: { email: 'open@example.com', event: 'open-one' } }));
  const url = 'https://hooks.example.com/in';
  const endpoint = await expectOk(api.call('POST', '/v1/webhooks', { body: { url, events: ['visited'] } }));
  const old = JSON.stringify({ [DECOMPOSED]: `line\n\u0301 ${DECOMPOSED}` });
  await sql`UPDATE executions SET event = ${old}::jsonb, context = ${old}::jsonb WHERE workflow_id = ${id}`.execute(
    api.db,
  );
  await sql`UPDATE execution_waits SET filters = ${old}::jsonb`.execute(api.db);
  await sql`UPDATE webhook_endpoints SET events = ${[DECOMPOSED, COMPOSED]}::text[]`.execute(api.db);
  for (let run = 1; run <= 2; run += 1) await convertRunning(api.db as unknown as Kysely<unknown>);
  const converted = { [COMPOSED]: `line\n\u0301 ${COMPOSED}` };
  const executions = api.db.selectFrom('executions').select(['event', 'context']).where('workflow_id', '=', id);
  expect(await executions.execute()).toEqual([{ event: converted, context: converted }]);
  const waits = await api.db.selectFrom('execution_waits').select('filters').execute();
  expect(waits).toContainEqual({ filters: converted });
  const shown = await expectOk(api.call('GET', `/v1/webhooks/${endpoint.id ?? endpoint.data.id}`));
  expect(JSON.stringify(shown)).toContain(JSON.stringify([COMPOSED]));
});
