import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileCondition, type SegmentSources } from '../../db/segments/filter-sql.ts';
import { type EmailActivityTimes, evaluateCondition, type FilterWorld } from '../../rules/filters/evaluate.ts';
import { EMAIL_ACTIVITIES } from '../../rules/filters/fields.ts';
import { type Condition, parseCondition } from '../../rules/filters/filters.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import * as world from './filter-world.ts';

const CONTACTS = 40;
const OTHER_PROJECT = '019a0000-0000-7000-8000-0000000000ff';
const DYNAMIC: Condition = parseCondition({
  operator: 'OR',
  conditions: [
    { field: 'data.plan', operator: 'equals', value: 'pro' },
    { field: 'event.signup', operator: 'triggered' },
  ],
});
const OUTER: Condition = parseCondition({
  operator: 'AND',
  conditions: [{ field: `segment.${world.DYNAMIC_SEGMENT}`, operator: 'notMemberOf' }],
});
const SEGMENTS: SegmentSources = new Map([
  [world.STATIC_SEGMENT, { kind: 'members' as const }],
  [world.DYNAMIC_SEGMENT, { kind: 'condition' as const, condition: DYNAMIC }],
  [world.OUTER_SEGMENT, { kind: 'condition' as const, condition: OUTER }],
]);

let database: TestDatabase;
let projectId: string;
let worlds: Map<string, FilterWorld>;

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = crypto.randomUUID();
  worlds = await insertWorlds();
});

afterAll(() => database.drop());

const toJson = (condition: Condition): unknown => JSON.parse(JSON.stringify(condition));

describe('the SQL of a condition selects exactly the contacts for which the condition is true', () => {
  it('in segments and audiences', async () => {
    await fc.assert(
      fc.asyncProperty(
        world.generateConditions(world.filterArbitrary),
        world.zoneArbitrary,
        async (condition, zone) => {
          expect(toJson(parseCondition(condition))).toEqual(world.toStoredCondition(condition));
          expect(await selectEmails(condition, { zone })).toEqual(evaluateInMemory(condition, { zone }));
        },
      ),
      { numRuns: 400, endOnFailure: true },
    );
  });

  it('for every single filter', async () => {
    await fc.assert(
      fc.asyncProperty(world.filterArbitrary, world.zoneArbitrary, async (filter, zone) => {
        const condition: Condition = { logic: 'AND', groups: [{ filters: [filter] }] };
        expect(await selectEmails(condition, { zone })).toEqual(evaluateInMemory(condition, { zone }));
      }),
      { numRuns: 800, endOnFailure: true },
    );
  });

  it('in CONDITION steps, with the trigger payload and the context', async () => {
    await fc.assert(
      fc.asyncProperty(
        world.generateConditions(world.stepFilterArbitrary),
        world.payloadArbitrary,
        world.zoneArbitrary,
        async (condition, step, zone) => {
          expect(toJson(parseCondition(condition, 'step'))).toEqual(world.toStoredCondition(condition));
          expect(await selectEmails(condition, { zone, step })).toEqual(evaluateInMemory(condition, { zone, step }));
        },
      ),
      { numRuns: 200, endOnFailure: true },
    );
  });
});

it.each<Condition['groups'][0]['filters'][0]>([
  { field: 'data.plan', operator: 'contains', value: 'pro' },
  { field: 'data.plan', operator: 'notContains', value: 'say "pro"' },
  { field: 'data.plan', operator: 'contains', value: 5 },
  { field: 'data.a.b', operator: 'contains', value: 'pro' },
  { field: 'email', operator: 'contains', value: 'pro' },
])('a count of contacts by %j can use parallel workers of Postgres', async (filter) => {
  const condition: Condition = { logic: 'AND', groups: [{ filters: [filter] }] };
  const predicate = compileCondition(condition, { projectId, now: world.NOW, zone: undefined, segments: SEGMENTS });
  const plan = await database.db.transaction().execute(async (trx) => {
    for (const setting of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size'])
      await sql`SELECT set_config(${setting}, '0', true)`.execute(trx);
    const query = sql`SELECT count(*) FROM contacts WHERE ${predicate}`;
    const { rows } = await sql<{ 'QUERY PLAN': string }>`EXPLAIN ${query}`.execute(trx);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  expect(plan).toMatch(/Parallel (Seq|Index|Index Only|Bitmap Heap) Scan/);
});

it('the maximum number of filters on events is planned within seconds', async () => {
  const filters = Array.from({ length: 500 }, (_, n) => ({ field: `event.e${n}`, operator: 'triggered' }));
  const condition = parseCondition({ operator: 'AND', conditions: filters });
  const predicate = compileCondition(condition, { projectId, now: world.NOW, zone: undefined, segments: SEGMENTS });
  await database.db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = '20s'`.execute(trx);
    await sql`explain select count(*) from contacts where project_id = ${projectId} and ${predicate}`.execute(trx);
  });
});

it('segments that refer to each other in a cycle are refused', () => {
  const circle: SegmentSources = new Map([[world.DYNAMIC_SEGMENT, { kind: 'condition', condition: OUTER }]]);
  const options = { projectId, now: world.NOW, zone: undefined, segments: circle };
  expect(() => compileCondition(OUTER, options)).toThrow('cycle');
});

interface Evaluation {
  zone: string;
  step?: { event: unknown; context: unknown };
}

async function selectEmails(condition: Condition, { zone, step }: Evaluation): Promise<string[]> {
  const options = { projectId, now: world.NOW, zone, segments: SEGMENTS, alias: 'c' };
  const predicate = compileCondition(condition, { ...options, ...(step && { step }) });
  const rows = await database.db
    .selectFrom('contacts as c')
    .select('c.id')
    .where('c.project_id', '=', projectId)
    .where(predicate)
    .orderBy('c.id')
    .execute();
  return rows.map((row) => row.id);
}

function evaluateInMemory(condition: Condition, { zone, step }: Evaluation): string[] {
  const matching = [...worlds].filter(([, contact]) =>
    step
      ? evaluateCondition(condition, { ...contact, zone, payload: step.event, context: step.context }, 'step')
      : evaluateCondition(condition, { ...contact, zone }),
  );
  return matching.map(([id]) => id).sort();
}

async function insertWorlds(): Promise<Map<string, FilterWorld>> {
  const found = new Map<string, FilterWorld>();
  await insertProject();
  const samples = fc.sample(world.contactArbitrary, CONTACTS);
  for (const [index, sample] of samples.entries()) {
    const contact = { ...sample.contact, email: `${index % 2 ? '' : `${index}.`}${sample.contact.email}${index}` };
    const id = await insertContact(contact, sample);
    const topics = await insertTopics(id, index);
    const base: FilterWorld = { ...sample, contact, topics, now: world.NOW, segmentIds: new Set() };
    const segmentIds = new Set<string>();
    if (index % 3 === 0) segmentIds.add(world.STATIC_SEGMENT);
    segmentIds.add(evaluateCondition(DYNAMIC, base) ? world.DYNAMIC_SEGMENT : world.OUTER_SEGMENT);
    found.set(id, { ...base, segmentIds });
    if (index % 3 === 0) await insertMember(id);
  }
  return found;
}

async function insertContact(contact: FilterWorld['contact'], history: Pick<FilterWorld, 'events' | 'emails'>) {
  const { db } = database;
  const { id } = await db
    .insertInto('contacts')
    .values({
      project_id: projectId,
      email: contact.email,
      subscribed: contact.subscribed,
      data: JSON.stringify(contact.data),
      created_at: contact.createdAt,
      updated_at: contact.updatedAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const { name, createdAt } of history.events) {
    const event = { contact_id: id, name, created_at: createdAt };
    await db
      .insertInto('events')
      .values({ ...event, project_id: projectId })
      .execute();
  }
  // Events of another project and test emails to the same contact must not count.
  await db.insertInto('events').values({ project_id: OTHER_PROJECT, contact_id: id, name: 'purchase' }).execute();
  const all = Object.fromEntries(EMAIL_ACTIVITIES.map((activity) => [activity, world.NOW]));
  for (const email of [...history.emails, { ...all, test: true }]) await insertEmail(id, email);
  return id;
}

async function insertEmail(contactId: string, email: EmailActivityTimes & { test?: boolean }): Promise<void> {
  const [sent, delivered, opened, clicked, bounced, complained] = EMAIL_ACTIVITIES.map((name) => email[name] ?? null);
  await sql`insert into emails (project_id, contact_id, content_id, source_type, mode, sent_at, delivered_at, opened_at,
      clicked_at, bounced_at, complained_at)
    values (${projectId}, ${contactId}, uuidv7(), 'TRANSACTIONAL', ${email.test ? 'test' : 'live'}, ${sent}, ${delivered},
      ${opened}, ${clicked}, ${bounced}, ${complained})`.execute(database.db);
}

async function insertProject(): Promise<void> {
  await sql`insert into projects (id, name, public_key, public_key_hash)
    values (${projectId}, 'Test', ${projectId}, ${Buffer.from(projectId)})`.execute(database.db);
}

/** Stores a contact's choice for each topic: yes, no or none. */
async function insertTopics(contactId: string, index: number): Promise<Map<string, boolean>> {
  const topics = new Map<string, boolean>();
  for (const [n, { id, joined }] of world.TOPICS.entries()) {
    const wanted = [undefined, true, false][(index + n) % 3];
    topics.set(id, wanted ?? joined);
    await sql`insert into topics (id, project_id, name, slug, default_subscribed)
      values (${id}, ${projectId}, ${id}, ${id}, ${joined}) on conflict do nothing`.execute(database.db);
    const choice = { project_id: projectId, contact_id: contactId, topic_id: id };
    if (wanted !== undefined)
      await database.db
        .insertInto('topic_choices')
        .values({ ...choice, joined: wanted })
        .execute();
  }
  return topics;
}

async function insertMember(contactId: string): Promise<void> {
  const { db } = database;
  await sql`insert into segments (id, project_id, name, slug, type)
    values (${world.STATIC_SEGMENT}, ${projectId}, 'Static', 'static', 'STATIC') on conflict do nothing`.execute(db);
  await db
    .insertInto('segment_members')
    .values({ segment_id: world.STATIC_SEGMENT, contact_id: contactId, project_id: projectId })
    .execute();
}
