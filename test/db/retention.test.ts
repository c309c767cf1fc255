import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listRetentionPrunings } from '../../db/housekeeping/retention.ts';
import type { Retention } from '../../rules/config.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { KEEP_ALL } from '../support/periodic.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
beforeEach(async () => {
  for (const table of [
    'webhook_deliveries',
    'execution_steps',
    'executions',
    'events',
    'jobs',
    'attachments',
    'emails',
  ])
    await sql`DELETE FROM ${sql.table(table)}`.execute(api.db);
});
afterAll(() => api?.close());

/** Returns the id and time of a row that was created some days ago. */
function createIdAndTime(daysAgo: number): { id: string; at: Date } {
  const at = new Date(Date.now() - daysAgo * 86_400_000);
  const hex = at.getTime().toString(16).padStart(12, '0');
  return { id: `${hex.slice(0, 8)}-${hex.slice(8)}${uuidv7().slice(13)}`, at };
}
async function listIds(table: string, column = 'id'): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT ${sql.ref(column)} AS id FROM ${sql.table(table)} ORDER BY 1`.execute(api.db);
  return rows.map((row) => row.id);
}
async function prune(retention: Partial<Retention>, batch?: number): Promise<void> {
  const prunings = listRetentionPrunings({ ...KEEP_ALL, ...retention }, batch);
  for (const pruning of Object.values(prunings)) await pruning(api.db, { after: null, mayContinue: () => true });
}

async function buildDelivery(daysAgo: number, endedDaysAgo: number | null): Promise<string> {
  const { id, at } = createIdAndTime(daysAgo);
  const ended = endedDaysAgo === null ? null : createIdAndTime(endedDaysAgo).at;
  await sql`
    INSERT INTO webhook_deliveries (id, project_id, endpoint_id, event_id, event_name, payload, status, created_at, completed_at)
    VALUES (${id}, ${api.one.id}, (SELECT id FROM webhook_endpoints LIMIT 1), ${id}, 'a', '{}',
      ${ended ? 'DELIVERED' : 'PENDING'}, ${at}, ${ended})`.execute(api.db);
  return id;
}
async function buildExecution(daysAgo: number, endedDaysAgo: number | null): Promise<string> {
  const { id, at } = createIdAndTime(daysAgo);
  const ended = endedDaysAgo === null ? null : createIdAndTime(endedDaysAgo).at;
  await sql`
    INSERT INTO executions (id, project_id, workflow_id, contact_id, entry, status, started_at, completed_at)
    VALUES (${id}, ${api.one.id}, (SELECT id FROM workflows LIMIT 1), ${uuidv7()}, 1,
      ${ended ? 'COMPLETED' : 'WAITING'}, ${at}, ${ended})`.execute(api.db);
  await sql`
    INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status)
    SELECT ${id}, n, ${api.one.id}, ${uuidv7()}, 'DELAY', 'COMPLETED' FROM generate_series(1, 3) AS n`.execute(api.db);
  return id;
}

it('webhook deliveries are deleted some days after they ended, in batches; waiting ones stay', async () => {
  const url = 'https://example.com';
  await api.call('POST', '/webhooks', { body: { url, events: ['a'] } });
  const [late, open, fresh] = [await buildDelivery(50, 5), await buildDelivery(45, null), await buildDelivery(3, 2)];
  for (let n = 0; n < 7; n += 1) await buildDelivery(40 + n, 31);
  await prune({});
  expect(await listIds('webhook_deliveries')).toHaveLength(10);
  await prune({ webhookDeliveryDays: 30 }, 2);
  expect(await listIds('webhook_deliveries')).toEqual([late, open, fresh].sort());
});

it('the steps of an execution are deleted some days after it ended, and the execution stays', async () => {
  await api.call('POST', '/workflows', { body: { name: 'A', eventName: 'a' } });
  const ended = [await buildExecution(300, 181), await buildExecution(250, 200)];
  const kept = [await buildExecution(400, null), await buildExecution(300, 100), await buildExecution(1, 0)];
  await prune({ executionStepDays: 180 }, 2);
  expect(new Set(await listIds('execution_steps', 'execution_id'))).toEqual(new Set(kept));
  expect(await listIds('execution_steps', 'execution_id')).toHaveLength(9);
  expect(await listIds('executions')).toEqual([...ended, ...kept].sort());
});

it('events, jobs and the audit log are deleted at the configured age, or never without one', async () => {
  for (const daysAgo of [400, 10]) {
    const { id, at } = createIdAndTime(daysAgo);
    await sql`INSERT INTO events (id, project_id, name, created_at) VALUES (${id}, ${api.one.id}, 'a', ${at})`.execute(
      api.db,
    );
    await sql`
      INSERT INTO jobs (id, project_id, kind, status, created_at, completed_at)
      VALUES (${id}, ${api.one.id}, 'import', 'COMPLETED', ${at}, ${at})`.execute(api.db);
    await sql`
      INSERT INTO audit_log (id, project_id, action, actor, created_at)
      VALUES (${id}, ${api.one.id}, 'apikey.rotated', 'a', ${at})`.execute(api.db);
  }
  const { id, at } = createIdAndTime(300);
  await sql`INSERT INTO jobs (id, project_id, kind, status, created_at) VALUES (${id}, ${api.one.id}, 'import', 'RUNNING', ${at})`.execute(
    api.db,
  );
  const before = (await listIds('audit_log')).length;
  await prune({});
  expect([(await listIds('events')).length, (await listIds('jobs')).length]).toEqual([2, 3]);
  await prune({ eventDays: 30, jobDays: 90, auditLogDays: 365 });
  expect([(await listIds('events')).length, (await listIds('jobs')).length]).toEqual([1, 2]);
  expect(await listIds('audit_log')).toHaveLength(before - 1);
});

it('the content of an attachment is deleted some days after its last email ended; the record of the email still names it', async () => {
  const content = Buffer.alloc(5_000, 7);
  const send = async (to: string[]) => {
    const file = { filename: 'invoice.pdf', content: content.toString('base64'), contentType: 'application/pdf' };
    const email = { to, from: 'hello@shop.example.com', subject: 'Hi', body: '<p>Hi</p>', attachments: [file] };
    const { body } = await api.call('POST', '/v1/send', { body: email });
    const emailIds: string[] = body.data.emails.map((entry: { email: string }) => entry.email);
    const { rows } = await sql<{ id: string }>`
      SELECT options->'attachmentIds'->>0 AS id FROM emails WHERE id = ${emailIds[0]}`.execute(api.db);
    const old = createIdAndTime(20).id;
    await sql`UPDATE attachments SET id = ${old} WHERE id = ${rows[0]?.id}`.execute(api.db);
    await sql`
      UPDATE emails SET options = jsonb_set(options, '{attachmentIds,0}', to_jsonb(${old}::text))
      WHERE id = ANY(${emailIds}::uuid[])`.execute(api.db);
    return { emailIds, old };
  };
  const endEmail = (id: string | undefined, daysAgo: number) =>
    sql`UPDATE emails SET status = 'SENT', sent_at = ${createIdAndTime(daysAgo).at} WHERE id = ${id}`.execute(api.db);
  const [ended, half, recent] = [
    await send(['a@x.com', 'b@x.com']),
    await send(['c@x.com', 'd@x.com']),
    await send(['e@x.com']),
  ];
  for (const id of ended.emailIds) await endEmail(id, 8);
  await endEmail(half.emailIds[0], 8);
  await endEmail(recent.emailIds[0], 6);
  await prune({ attachmentDays: 7 }, 1);
  const { rows } = await sql<{ id: string; bytes: number }>`
    SELECT id, octet_length(content) AS bytes FROM attachments`.execute(api.db);
  expect(new Map(rows.map((row) => [row.id, row.bytes]))).toEqual(
    new Map([
      [ended.old, 0],
      [half.old, 5_000],
      [recent.old, 5_000],
    ]),
  );
  const record = await api.call('GET', `/v1/emails/${ended.emailIds[1]}`);
  expect(record.body.data.attachments).toMatchObject([{ name: 'invoice.pdf', type: 'application/pdf', size: 5_000 }]);
});
