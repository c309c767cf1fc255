import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import type { Db } from '../db/connection.ts';
import { insertProject } from '../db/projects/accounts.ts';
import { countSegment, listSegmentContacts, refreshMemberCount, segmentPredicate } from '../db/segments/contacts.ts';
import { previewCondition } from '../db/segments/preview.ts';
import { insertSegment, type Segment } from '../db/segments/segments.ts';
import { computeSegment } from '../engine/segments/compute.ts';
import { generatePublicKey } from '../rules/access/api-keys.ts';
import { type Condition, type Filter, parseCondition } from '../rules/filters/filters.ts';
import { openDatabase } from './load/database.ts';

/**
 * Measures segments of a large project: counts, the first page of contacts, and the computation. Prints the query plans
 * of the segment with three conditions. The cache is warm, because each query runs once before it is measured.
 * `--database-url` keeps the data for another run.
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '5000000' },
    runs: { type: 'string', default: '7' },
    'database-url': { type: 'string' },
    plans: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const contacts = Number(values.contacts);
const events = Number(values.events);
const runs = Number(values.runs);

const PLAN: Filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
const AGE: Filter = { field: 'data.age', operator: 'greaterThan', value: 30 };
const BOUGHT: Filter = { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' };
const CASES: [string, Condition][] = [
  ['three conditions: plan, age, bought within 30 days', matchAll(PLAN, AGE, BOUGHT)],
  ['the same, joined by OR', parseCondition({ operator: 'OR', conditions: [PLAN, AGE, BOUGHT] })],
  ['plan, and not bought within 30 days', matchAll(PLAN, { ...BOUGHT, operator: 'notTriggeredWithin' })],
  ['bought once, not since 300 days', matchAll({ ...BOUGHT, operator: 'triggeredOlderThan', value: 300 })],
  [
    'tag in list, city begins with, created within 60 days',
    matchAll(
      { field: 'data.tags', operator: 'contains', value: 't3' },
      { field: 'data.city', operator: 'startsWith', value: 'city 1' },
      { field: 'createdAt', operator: 'within', value: 60, unit: 'days' },
    ),
  ],
  [
    'three conditions that no contact matches',
    matchAll(PLAN, { field: 'data.city', operator: 'equals', value: 'Nowhere' }, BOUGHT),
  ],
  ['text contains, one in ten', matchAll({ field: 'data.city', operator: 'contains', value: 'Y 1' })],
  ['text contains, a thousandth', matchAll({ field: 'data.city', operator: 'contains', value: 'ty 777' })],
  ['text contains, nobody', matchAll({ field: 'data.city', operator: 'contains', value: 'nowhere' })],
  ['list contains, a quarter', matchAll({ field: 'data.tags', operator: 'contains', value: 'T3' })],
  ['list contains, nobody', matchAll({ field: 'data.tags', operator: 'contains', value: 'nothing' })],
  ['text does not contain', matchAll({ field: 'data.firstName', operator: 'notContains', value: '7' })],
  ['one address', matchAll({ field: 'email', operator: 'equals', value: 'Contact77@bench.example' }, BOUGHT)],
];

const database = await openDatabase({ url: values['database-url'], max: 4 });
const { db } = database;
try {
  const projectId = (await findProject(db)) ?? (await insertData(db));
  const rows: Record<string, string | number>[] = [];
  for (const [name, condition] of CASES) rows.push(await measureSegment(db, projectId, name, condition));
  if (values.plans) await printPlans(db, projectId, CASES[0]?.[1]);
  console.table(rows);
  console.table([await measureCompute(db, projectId)]);
} finally {
  await database.close();
}

function matchAll(...filters: Filter[]): Condition {
  return { logic: 'AND', groups: [{ filters }] };
}

async function findProject(on: Db): Promise<string | undefined> {
  const project = await on.selectFrom('projects').select('id').where('name', '=', 'Bench').executeTakeFirst();
  return project?.id;
}

/**
 * Inserts contacts created over a year, with five events each on average in the same year. All values are spread
 * evenly.
 */
async function insertData(on: Db): Promise<string> {
  const began = Date.now();
  const projectId = await insertProject(on, { name: 'Bench', publicKey: generatePublicKey() });
  await on.connection().execute(async (one) => {
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data, created_at, updated_at)
      SELECT ${projectId}, 'contact' || n || '@bench.example', n % 10 <> 0, jsonb_build_object(
          'plan', (ARRAY['free', 'free', 'free', 'Pro', 'team'])[1 + n % 5], 'age', 18 + n % 60,
          'city', 'City ' || n % 1000, 'firstName', 'Name ' || n, 'tags', jsonb_build_array('t' || n % 7, 't' || n % 11)),
        at, at
      FROM (SELECT n, now() - (${contacts}::int - n) * (interval '365 days' / ${contacts}::int) AS at
        FROM generate_series(1, ${contacts}::int) AS n) AS made`.execute(one);
    await sql`
      CREATE TEMP TABLE numbered AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM contacts
      WHERE project_id = ${projectId}`.execute(one);
    await sql`
      INSERT INTO events (project_id, contact_id, name, data, created_at)
      SELECT ${projectId}, c.id, (ARRAY['page_view', 'page_view', 'page_view', 'purchase', 'login', 'signup'])[1 + e.n % 6],
        '{"value": 1}', now() - random() * interval '365 days'
      FROM generate_series(1, ${events}::int) AS e(n)
      JOIN numbered c ON c.n = e.n * 7919::bigint % ${contacts}::int`.execute(one);
    await sql`VACUUM ANALYZE contacts`.execute(one);
    await sql`VACUUM ANALYZE events`.execute(one);
  });
  console.log(`inserted ${contacts} contacts and ${events} events in ${Math.round((Date.now() - began) / 1000)} s`);
  return projectId;
}

async function measureSegment(on: Db, projectId: string, name: string, condition: Condition) {
  const segment = await buildSegment(on, projectId, condition);
  const members = await refreshMemberCount(on, segment);
  const count = await measureWork(() => countSegment(on, segment));
  const page = await measureWork(() => listSegmentContacts(on, segment, { page: 1, pageSize: 100 }));
  const preview = await measureWork(() => previewCondition(on, { projectId, condition }));
  await removeSegment(on, segment);
  return {
    segment: name,
    members,
    'count ms': count.median,
    'count max': count.max,
    'page ms': page.median,
    'page max': page.max,
    'preview ms': preview.median,
    'preview max': preview.max,
  };
}

/** Measures the first computation, in which every contact enters, and the next one, in which no contact enters. */
async function measureCompute(on: Db, projectId: string) {
  const segment = await buildSegment(
    on,
    projectId,
    matchAll(PLAN, { field: 'data.age', operator: 'lessThan', value: 50 }),
  );
  const options = { projectId, segmentId: segment.id };
  const began = Date.now();
  const { added } = await computeSegment(on, options);
  const enteredMs = Date.now() - began;
  const { median } = await measureWork(() => computeSegment(on, options), 3);
  await sql`DELETE FROM events WHERE project_id = ${projectId} AND name LIKE 'segment.%'`.execute(on);
  await removeSegment(on, segment);
  return {
    computed: 'tracked segment',
    entered: added,
    'first s': enteredMs / 1000,
    'entries/s': Math.round((added / enteredMs) * 1000),
    'again ms': median,
  };
}

function buildSegment(on: Db, projectId: string, condition: Condition): Promise<Segment> {
  const fresh = { projectId, name: `Bench ${crypto.randomUUID()}`, description: null, condition };
  return on.transaction().execute((trx) => insertSegment(trx, { ...fresh, type: 'DYNAMIC', trackMembership: true }));
}

async function removeSegment(on: Db, { id }: Segment): Promise<void> {
  await on.deleteFrom('segments').where('id', '=', id).execute();
}

async function measureWork(work: () => Promise<unknown>, times = runs): Promise<{ median: number; max: number }> {
  await work();
  const taken: number[] = [];
  for (let run = 0; run < times; run += 1) {
    const began = performance.now();
    await work();
    taken.push(Math.round((performance.now() - began) * 10) / 10);
  }
  taken.sort((a, b) => a - b);
  return { median: taken[Math.floor(taken.length / 2)] ?? 0, max: taken.at(-1) ?? 0 };
}

async function printPlans(on: Db, projectId: string, condition: Condition | undefined): Promise<void> {
  if (!condition) return;
  const segment = await buildSegment(on, projectId, condition);
  const predicate = await segmentPredicate(on, segment, new Date());
  const where = sql`FROM contacts WHERE project_id = ${projectId} AND ${predicate}`;
  for (const query of [
    sql`SELECT count(*) ${where}`,
    sql`SELECT id, email, data ${where} ORDER BY id DESC LIMIT 100`,
  ]) {
    const { rows } = await sql<{ 'QUERY PLAN': string }>`EXPLAIN (ANALYZE, COSTS OFF) ${query}`.execute(on);
    console.log(`${rows.map((row) => row['QUERY PLAN']).join('\n')}\n`);
  }
  await removeSegment(on, segment);
}
