import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { buildEverything } from '../support/everything.ts';
import { type ApiOperation, listOperations } from '../support/operations.ts';
import { signIn } from '../support/session.ts';

/** Maximum size of a page (contract §1.11 Limits). */
const PAGE_MAX_BYTES = 4_000_000;
const RECORDS = 90;
/** Lists that have a cursor, and more than one page for the records below. */
const SEVERAL_PAGES = [
  '/v1/activity',
  '/v1/contacts',
  '/v1/contacts/{id}/timeline',
  '/v1/events',
  '/v1/events/contact/{contactId}',
  '/v1/webhooks/{id}/deliveries',
  '/v1/workflows/{id}/executions',
  '/v1/workflows/{id}/steps/{stepId}/visits',
];
/** Responses that report that rows are omitted. */
const TRUNCATED = [
  '/apikeys',
  '/v1/campaigns',
  '/v1/contacts/fields',
  '/v1/contacts/fields/{field}/values',
  '/v1/emails/{id}',
  '/v1/segments',
  '/v1/segments/{id}/explain',
  '/v1/templates',
  '/v1/webhooks',
  '/v1/workflows',
  '/v1/workflows/fields',
  '/v1/workflows/{id}/executions/{executionId}',
];
/** Lists of one page that need a parameter. */
const NEEDED_QUERY: Record<string, (contact: string) => string> = {
  '/v1/segments/{id}/explain': (contact) => `contactId=${contact}`,
};

let api: TestApi;
let idOf: (path: string, param: string) => string | undefined;
let owner: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  owner = await signIn(api, api.one);
  idOf = await buildEverything(api.db, api.one.id);
  for (const statement of createInserts()) await statement.execute(api.db);
});
afterAll(() => api.close());

/** Returns statements that insert large records of each list. Times and ids differ, so a cursor can identify each. */
function createInserts(): RawBuilder<unknown>[] {
  const project = api.one.id;
  const findId = (path: string, param = 'id') => idOf(path, param);
  const [contact, workflow, step] = [findId('/contacts'), findId('/workflows'), findId('/workflows', 'stepId')];
  const n = sql`generate_series(1, ${RECORDS}::int) n`;
  const at = sql`now() - n * interval '1 second'`;
  // JSON escapes quotes, so a limit must count bytes as in the response, not as stored.
  const large = sql`jsonb_build_object('text', n || repeat('"', 30000))`;
  return [
    sql`UPDATE contacts SET data = jsonb_build_object('text', 'own', 'long', repeat('"', 30000)) WHERE id = ${contact}`,
    sql`UPDATE segments SET type = 'DYNAMIC', condition = jsonb_build_object('logic', 'AND', 'groups', jsonb_build_array(
        jsonb_build_object('filters', (SELECT jsonb_agg(jsonb_build_object('field', 'data.long', 'operator', 'notEquals',
          'value', n)) FROM generate_series(1, 200) n)))) WHERE id = ${findId('/segments')}`,
    sql`INSERT INTO api_keys (project_id, name, key_hash, prefix, scopes, mode)
      SELECT ${project}, repeat('語', 100), n::text::bytea, 'sk_live_' || n, '{}', 'live'
      FROM generate_series(1, 9000) n`,
    sql`INSERT INTO audit_log (project_id, action, actor, details, created_at)
      SELECT ${project}, 'large', 'user', ${large}, ${at} FROM ${n}`,
    sql`INSERT INTO jobs (project_id, kind, status, result, created_at)
      SELECT ${project}, 'import', 'COMPLETED', jsonb_build_object('totalRows', 1000, 'successCount', 0,
        'createdCount', 0, 'updatedCount', 0, 'failureCount', 1000, 'unreadableRows', 0, 'errors',
        (SELECT jsonb_agg(jsonb_build_object('row', k, 'email', repeat('"', 100), 'error', repeat('"', 100)))
          FROM generate_series(1, 1000) k)), ${at} FROM ${n}`,
    sql`INSERT INTO sms_messages (project_id, contact_id, to_phone, from_phone, country, body, encoding, segments, status)
      SELECT ${project}, ${contact}, '+4915112345678', '+15005550006', 'DE', repeat('😀', 1600), 'UCS2', 24, 'RECEIVED'
      FROM generate_series(1, 300) n`,
    sql`INSERT INTO contacts (project_id, email, subscribed, data, created_at)
      SELECT ${project}, n || '@large.test', true, ${large}, ${at} FROM ${n}`,
    sql`INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${project}, n || '@names.test', true,
        (SELECT jsonb_object_agg(n || '-' || k || repeat('k', 3000), 1) FROM generate_series(1, 20) k) FROM ${n}`,
    sql`INSERT INTO events (project_id, contact_id, name, data, created_at)
      SELECT ${project}, ${contact}, 'large', ${large}, ${at} FROM ${n}`,
    sql`INSERT INTO events (project_id, contact_id, email_id, name, data)
      SELECT project_id, contact_id, id, 'large', ${large} FROM emails, ${n} WHERE id = ${findId('/emails')}`,
    sql`INSERT INTO templates (project_id, name, subject, body, type, description)
      SELECT ${project}, 't' || n, 'S', repeat('"', 200000), 'MARKETING', repeat('d', 2000) FROM ${n}`,
    sql`INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type)
      SELECT ${project}, 'c' || n, 'S', repeat('"', 200000), 'x@e.test', 'ALL' FROM ${n}`,
    sql`INSERT INTO segments (project_id, name, slug, type, condition)
      SELECT ${project}, 's' || n, 's-' || n, 'DYNAMIC', jsonb_build_object('logic', 'AND', 'groups', jsonb_build_array(
        jsonb_build_object('filters', jsonb_build_array(
          jsonb_build_object('field', 'data.' || repeat('x', 60000), 'operator', 'exists'))))) FROM ${n}`,
    sql`INSERT INTO workflows (project_id, name, description, event_name, exit_on)
      SELECT ${project}, 'w' || n, repeat('ä', 2000), 'large',
        jsonb_build_array(jsonb_build_object('eventName', repeat('x', 50000))) FROM ${n}`,
    sql`INSERT INTO executions (project_id, workflow_id, contact_id, entry, context)
      SELECT ${project}, ${workflow}, c.id, 1, jsonb_build_object('text', repeat('"', 30000)) FROM contacts c
      WHERE c.project_id = ${project} AND c.email LIKE '%@large.test'`,
    sql`INSERT INTO execution_steps (project_id, execution_id, visit, step_id, type, status, output, started_at, completed_at)
      SELECT ${project}, ${findId('/workflows', 'executionId')}, n, ${step}, 'DELAY', 'COMPLETED', ${large}, ${at}, ${at} FROM ${n}`,
    sql`INSERT INTO webhook_endpoints (project_id, url, secret, events)
      SELECT ${project}, 'https://large.test/' || n, 'sealed', (SELECT array_agg(k || repeat('語', 250)) FROM generate_series(1, 50) k)
      FROM generate_series(1, 110) n`,
    sql`INSERT INTO webhook_deliveries (project_id, endpoint_id, event_id, event_name, payload)
      SELECT ${project}, ${findId('/webhooks')}, uuidv7(), 'large', ${large} FROM ${n}`,
  ];
}

/** Returns the address of an operation with its maximum number of records; undefined if a parameter has no record. */
function getListAddress({ path, params }: ApiOperation, has: Set<string>): string | undefined {
  let address = path;
  for (const param of params) {
    const value = param === 'field' ? 'text' : param === 'eventName' ? 'large' : idOf(path, param);
    if (value === undefined) return undefined;
    address = address.replace(`{${param}}`, value);
  }
  const needed = NEEDED_QUERY[path]?.(idOf('/contacts', 'id') ?? '');
  if (needed) return `${address}?${needed}`;
  const size = has.has('limit') ? 'limit=100' : has.has('pageSize') ? 'pageSize=100' : '';
  return `${address}?${size}`;
}

it('a page is at most 4 MB on every list, and a cursor reaches every record', async () => {
  const { body: document } = await api.call('GET', '/openapi.json', { key: null });
  const pages = new Map<string, number>();
  const truncated: string[] = [];
  const isAlias = (path: string) => document.paths[`/v1${path}`] !== undefined;
  const reads = listOperations(api.app).filter(({ method, path }) => method === 'GET' && !isAlias(path));
  for (const operation of reads) {
    // biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON here
    const parameters: any[] = document.paths[operation.path].get.parameters ?? [];
    const names = new Set<string>(
      parameters.map((one) => one.name ?? document.components.parameters[one.$ref.split('/').at(-1)].name),
    );
    // The export of a contact and of the project are complete by design, so the limit does not apply.
    if (operation.path.endsWith('/export')) continue;
    const address = getListAddress(operation, names);
    if (address === undefined) continue;
    const seen: string[] = [];
    let count = 0;
    for (let cursor: string | null = ''; cursor !== null; count += 1) {
      const response: Response = await api.app.request(
        `${address}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        {
          headers: operation.security.some((one) => 'secretKey' in one)
            ? { authorization: `Bearer ${api.one.secretKey}` }
            : owner,
        },
      );
      const text = await response.text();
      if (response.status !== 200) break;
      expect([operation.path, Buffer.byteLength(text) <= PAGE_MAX_BYTES]).toEqual([operation.path, true]);
      const page = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {};
      const records: { id?: string }[] = Array.isArray(page.data) ? page.data : [];
      seen.push(...records.flatMap(({ id }) => (id === undefined ? [] : [id])));
      if (text.includes('"truncated":true')) truncated.push(operation.path);
      cursor = names.has('cursor') ? (page.cursor ?? page.nextCursor ?? null) : null;
      if (cursor !== null)
        expect([operation.path, records.length > 0 || !('data' in page)]).toEqual([operation.path, true]);
    }
    expect([operation.path, new Set(seen).size]).toEqual([operation.path, seen.length]);
    pages.set(operation.path, count);
    if (SEVERAL_PAGES.includes(operation.path) && seen.length > 0)
      expect([operation.path, seen.length >= RECORDS]).toEqual([operation.path, true]);
  }
  expect(SEVERAL_PAGES.filter((path) => (pages.get(path) ?? 0) < 2)).toEqual([]);
  expect(TRUNCATED.filter((path) => !truncated.includes(path))).toEqual([]);
});

it('the steps of a preview are at most 4 MB', async () => {
  const call = (path: string, body: object) => api.call('POST', path, { body });
  const { body: workflow } = await call('/v1/workflows', { name: 'Loop', eventName: 'loop' });
  const path = `/v1/workflows/${workflow.id}`;
  const createStep = async (type: string, config: object) =>
    (await call(`${path}/steps`, { type, name: type, config })).body.id as string;
  const pause = await createStep('DELAY', { amount: 1, unit: 'hours' });
  const request = await createStep('WEBHOOK', { url: 'https://hooks.example/', body: { long: '{{long}}' } });
  for (const [fromStepId, toStepId] of [
    [pause, request],
    [request, pause],
  ])
    await call(`${path}/transitions`, { fromStepId, toStepId });
  const preview = await call(`${path}/preview`, { contactId: idOf('/contacts', 'id') });
  expect([preview.status, preview.body.truncated]).toEqual([200, true]);
  expect(Buffer.byteLength(JSON.stringify(preview.body))).toBeLessThan(PAGE_MAX_BYTES);
});
