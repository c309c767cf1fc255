import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import { countVisits, listContactsAtStep } from '../../db/executions/step-stats.ts';
import { claimEmails, settleEmails } from '../../db/sending/email-ledger.ts';
import { completeEffects, type EffectPosition, resumeExecutions } from '../../engine/automations/resume.ts';
import { recordEvents } from '../../engine/events/record-events.ts';
import { draftStepEmails, saveStepEmails } from '../../engine/sending/step-emails.ts';
import { encodeCursor } from '../../rules/cursor.ts';
import { padHmacKey } from '../../rules/emails/suppression.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

/** The number of executions of the project besides the execution that is read. */
const OTHERS = 3_000;
const TABLES = [
  'contacts',
  'contents',
  'emails',
  'executions',
  'execution_steps',
  'templates',
  'suppressions',
  'events',
];

let api: TestApi;
let executionId: string;
beforeAll(async () => {
  api = await startTestApi();
  // Keeps the new tables without planner statistics. Autovacuum would collect some.
  for (const table of TABLES) await sql`ALTER TABLE ${sql.table(table)} SET (autovacuum_enabled = off)`.execute(api.db);
  await buildDomain(api.db, { projectId: api.one.id, domain: 'example.com' });
  const { body: template } = await api.call('POST', '/templates', {
    body: { name: 'Hello', subject: 'Hello', body: '<p>Hello</p>', type: 'TRANSACTIONAL', from: 'us@example.com' },
  });
  const { body: workflow } = await api.call('POST', '/workflows', { body: { name: 'Hello', eventName: 'hello' } });
  for (const [type, config] of [['SEND_EMAIL', { templateId: template.id }] as const, ['EXIT', {}] as const]) {
    await api.call('POST', `/workflows/${workflow.id}/steps`, { body: { type, config, autoConnect: true } });
  }
  await api.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
  await api.call('POST', '/v1/track', { body: { email: 'ada@example.com', event: 'hello' } });
  const { rows } = await sql<{ id: string }>`SELECT id FROM executions`.execute(api.db);
  executionId = rows[0]?.id ?? '';
  await insertOtherContacts(workflow.id);
});
afterAll(() => api?.close());

/** Adds contacts, each with a running execution, an email and a content. */
async function insertOtherContacts(workflowId: string): Promise<void> {
  await sql`
    WITH c AS (
      INSERT INTO contacts (project_id, email, subscribed)
      SELECT ${api.one.id}, n || '@example.com', true FROM generate_series(1, ${OTHERS}::int) n
      RETURNING id, email
    ), k AS (
      INSERT INTO contents (project_id, hash, subject, body, type, from_email)
      SELECT ${api.one.id}, sha256(email::bytea), email, '', 'TRANSACTIONAL', 'us@example.com' FROM c RETURNING id, subject
    ), refused AS (
      INSERT INTO suppressions (project_id, address_hash, reason, source) SELECT ${api.one.id}, sha256(email::bytea), 'unsubscribe', '' FROM c
    ), tracked AS (
      INSERT INTO events (project_id, contact_id, name) SELECT ${api.one.id}, id, 'hello' FROM c
    ), e AS (
      INSERT INTO executions (project_id, workflow_id, contact_id, entry, visit) SELECT ${api.one.id}, ${workflowId}, id, 1, 1 FROM c
      RETURNING id, contact_id
    ), s AS (
      INSERT INTO execution_steps (project_id, execution_id, visit, step_id, type, status)
      SELECT ${api.one.id}, id, 1, uuidv7(), 'SEND_EMAIL', 'RUNNING' FROM e
    )
    INSERT INTO emails (project_id, contact_id, content_id, execution_id, visit, source_type)
    SELECT ${api.one.id}, c.id, k.id, e.id, 1, 'WORKFLOW' FROM e JOIN c ON c.id = e.contact_id JOIN k ON k.subject = c.email
  `.execute(api.db);
}

it('a step of one execution reads only its own rows, with one query plan for all tenants', async () => {
  const projectId = api.one.id;
  const read = await countRowsRead(async (trx) => {
    const executions = await resumeExecutions(trx, { projectId, inputs: [{ projectId, executionId, visit: 1 }] });
    const positions = executions.flatMap(
      (s) => s.atEffect<EffectPosition[]>('SEND_EMAIL', { real: (at) => [at], sandbox: () => [] }) ?? [],
    );
    const drafts = await draftStepEmails(trx, { projectId, positions });
    const [saved] = await saveStepEmails(trx, { projectId, drafts });
    if (saved?.outcome !== 'saved') throw new Error('the step has no email');
    const emails = [{ id: saved.emailId, deliveryId: executionId }];
    const [email] = await claimEmails(trx, { projectId, emails, suppressionPads: padHmacKey(randomBytes(32)) });
    if (!email?.contact) throw new Error('the email was not claimed');
    await lockContacts(trx, { projectId, ids: [email.contact.id] });
    const outcome = { kind: 'accepted' as const, providerMessageId: null, subject: 'Hello' };
    const settlements = [{ id: email.id, claim: email.claim, outcome }];
    expect((await settleEmails(trx, { projectId, settlements })).size).toBe(1);
    const outcomes = [{ executionId, visit: 1, status: 'COMPLETED' as const }];
    expect(await completeEffects(trx, { projectId, outcomes })).toMatchObject([{ status: 'EXITED' }]);
  });
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(100);
});

it('an event of one contact reads only its own rows', async () => {
  const projectId = api.one.id;
  const read = await countRowsRead(async (trx) => {
    const rows = [
      { email: '7@example.com', subscribed: undefined, set: { plan: 'pro' }, remove: [], by: 'project' as const },
    ];
    const [contact] = await upsertContacts(trx, {
      projectId,
      rows,
      defaultSubscribed: true,
      suppressionKey: randomBytes(32),
      causeId: null,
    });
    const events = [
      {
        contactId: contact?.id ?? null,
        name: 'hello',
        data: {},
        untrusted: false,
        untrustedTrigger: false,
        causeId: null,
      },
    ];
    await recordEvents(trx, { projectId, events, lockedContacts: new Set([contact?.id ?? '']) });
  });
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(100);
});

it('the queries for the contacts at a step, and for its statistics of a time span, read only the matching visits', async () => {
  const [projectId, stepId] = [api.one.id, uuidv7()];
  await sql`
    INSERT INTO execution_steps (project_id, execution_id, visit, step_id, type, status, started_at)
    SELECT project_id, id, 9, ${stepId}, 'DELAY', 'WAITING', now() - row_number() OVER (ORDER BY id DESC) * interval '1 minute'
    FROM executions`.execute(api.db);
  await sql`ANALYZE executions, execution_steps`.execute(api.db);
  const { rows } = await sql<{
    id: string;
  }>`SELECT id FROM executions ORDER BY id OFFSET ${OTHERS / 2} LIMIT 1`.execute(api.db);
  const read = await countRowsRead(async (trx) => {
    const cursor = encodeCursor([rows[0]?.id ?? '']);
    expect((await listContactsAtStep(trx, { projectId, stepId, limit: 5, cursor })).items).toHaveLength(5);
    const since = new Date(Date.now() - 20.5 * 60_000);
    const [counts] = await countVisits(trx, { projectId, stepIds: [stepId], since });
    expect(counts).toMatchObject({ waiting: 20 });
  });
  expect(read).toBeLessThan(200);
});

it('a statement that looks up a few ids is planned a few times, not each time it runs', async () => {
  const { db } = connect({
    connectionString: api.deps.config.database.url,
    max: 1,
    applicationName: 'plans',
    onError: () => {},
  });
  try {
    for (let n = 0; n < 20; n += 1)
      await db.transaction().execute((trx) => lockContacts(trx, { projectId: api.one.id, ids: [uuidv7()] }));
    const { rows } = await sql<{ planned: number; reused: number }>`
      SELECT custom_plans AS planned, generic_plans AS reused FROM pg_prepared_statements WHERE statement LIKE '%FROM contacts%'
    `.execute(db);
    expect(rows).toEqual([{ planned: 5, reused: 15 }]); // Postgres plans the first five times, to compare the costs.
  } finally {
    await db.destroy();
  }
});

/**
 * Returns the number of rows that `work` reads. Its statements use one plan for all values, as Postgres does after a
 * few runs.
 */
function countRowsRead(work: (trx: Trx) => Promise<void>): Promise<number> {
  return api.db.transaction().execute(async (trx) => {
    await sql`SET LOCAL plan_cache_mode = force_generic_plan`.execute(trx);
    const before = await readRowCount(trx);
    await work(trx);
    return (await readRowCount(trx)) - before;
  });
}

/** Returns the number of rows that this transaction has read so far. */
async function readRowCount(trx: Trx): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int8 AS n FROM pg_stat_xact_user_tables WHERE relname = ANY(${TABLES})
  `.execute(trx);
  return rows[0]?.n ?? 0;
}
