import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import type { Db } from '../db/connection.ts';
import { countVisits, listContactsAtStep } from '../db/executions/step-stats.ts';
import { insertProject } from '../db/projects/accounts.ts';
import { generatePublicKey } from '../rules/access/api-keys.ts';
import { encodeCursor } from '../rules/cursor.ts';
import { openDatabase } from './load/database.ts';
import { roundToTenths } from './load/round.ts';

/**
 * Measures how long it takes to read a workflow with many executions: the statistics of its steps, in total and over a
 * period, and the contacts at a step. The baseline is a query that counts the visits. Also measures what the counters
 * cost when a visit is written: the CPU time of one backend, in alternating rounds with and without counters.
 * `--database-url` keeps the data for another run.
 */
const { values } = parseArgs({
  options: {
    executions: { type: 'string', default: '1000000' },
    visits: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
    'database-url': { type: 'string' },
  },
});
const executions = Number(values.executions);
const visits = Number(values.visits);
const TYPES = ['SEND_EMAIL', 'DELAY', 'SPLIT', 'EXIT'] as const;
const DAY_MS = 86_400_000;

interface Workflow {
  projectId: string;
  id: string;
  stepIds: string[];
}

const database = await openDatabase({ url: values['database-url'], max: 1 });
const { db } = database;
try {
  const workflow = (await findWorkflow(db)) ?? (await insertWorkflow(db));
  console.table(await measureReads(db, workflow));
  console.table(await measureCountersCost(db, workflow));
} finally {
  await database.close();
}

async function findWorkflow(on: Db): Promise<Workflow | undefined> {
  const { rows } = await sql<Workflow>`
    SELECT w.project_id AS "projectId", w.id, ARRAY(SELECT s.id::text FROM workflow_steps s WHERE s.workflow_id = w.id ORDER BY s.id) AS "stepIds"
    FROM workflows w LIMIT 1`.execute(on);
  return rows[0];
}

async function insertWorkflow(on: Db): Promise<Workflow> {
  const projectId = await insertProject(on, { name: 'Bench', publicKey: generatePublicKey() });
  const { id } = await on
    .insertInto('workflows')
    .values({ project_id: projectId, name: 'Bench' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const steps = TYPES.map((type) => ({ project_id: projectId, workflow_id: id, type, name: type, config: '{}' }));
  const insertedSteps = await on.insertInto('workflow_steps').values(steps).returning('id').execute();
  const workflow = { projectId, id, stepIds: insertedSteps.map((step) => step.id) };
  await insertExecutions(on, workflow);
  return workflow;
}

/** Inserts executions over 30 days. Three in ten wait at the DELAY; the others have passed the SPLIT and have ended. */
async function insertExecutions(on: Db, { projectId, id, stepIds }: Workflow): Promise<void> {
  const [send, delay, split, exit] = stepIds;
  await sql`
    INSERT INTO contacts (project_id, email, subscribed)
    SELECT ${projectId}, 'r' || n || '@bench.test', true FROM generate_series(1, ${executions}::int) AS n`.execute(on);
  await sql`
    INSERT INTO executions (project_id, workflow_id, contact_id, entry, status, current_step_id, visit, started_at, completed_at)
    SELECT ${projectId}, ${id}, c.id, 1, CASE WHEN waits THEN 'WAITING' ELSE 'COMPLETED' END,
      CASE WHEN waits THEN ${delay}::uuid END, CASE WHEN waits THEN 2 ELSE 4 END, at, CASE WHEN NOT waits THEN at END
    FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM contacts WHERE project_id = ${projectId}) c,
      LATERAL (SELECT n % 10 < 3 AS waits, now() - interval '30 days' * (1 - n / ${executions}::float8) AS at) w`.execute(
    on,
  );
  const step = (visit: number, stepId: string | undefined, type: string, of: ReturnType<typeof sql>) => sql`
    INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status, started_at, completed_at, due_at, output)
    SELECT e.id, ${visit}, e.project_id, ${stepId}, ${type}, ${of} FROM executions e WHERE e.workflow_id = ${id}`;
  const done = sql`'COMPLETED', e.started_at, e.started_at, NULL, NULL`;
  const waits = sql`CASE WHEN e.completed_at IS NULL THEN 'WAITING' ELSE 'COMPLETED' END, e.started_at, e.completed_at,
    CASE WHEN e.completed_at IS NULL THEN now() + interval '1 day' END, NULL`;
  const branch = sql`'COMPLETED', e.started_at, e.started_at, NULL,
    jsonb_build_object('branch', CASE WHEN random() < 0.5 THEN 'a' ELSE 'b' END)`;
  await step(1, send, 'SEND_EMAIL', done).execute(on);
  await step(2, delay, 'DELAY', waits).execute(on);
  await sql`${step(3, split, 'SPLIT', branch)} AND e.completed_at IS NOT NULL`.execute(on);
  await sql`${step(4, exit, 'EXIT', done)} AND e.completed_at IS NOT NULL`.execute(on);
  await sql`VACUUM ANALYZE contacts, executions, execution_steps, step_visit_counts`.execute(on);
}

async function measureReads(on: Db, { projectId, stepIds }: Workflow) {
  const all = { projectId, stepIds };
  const [now, delay = ''] = [Date.now(), stepIds[1]];
  const atStep = { projectId, stepId: delay, limit: 100 };
  const { cursor } = await listContactsAtStep(on, atStep);
  const middle = await findMidCursor(on, delay);
  const reads: Record<string, () => Promise<unknown>> = {
    'stats, over all': () => countVisits(on, all),
    'stats, ten days, no full hours at the ends': () =>
      countVisits(on, { ...all, since: new Date(now - 15.51 * DAY_MS), until: new Date(now - 5.27 * DAY_MS) }),
    'stats, the last 20 minutes': () => countVisits(on, { ...all, since: new Date(now - 20 * 60_000) }),
    'people in a step, first page with total': () => listContactsAtStep(on, atStep),
    'people in a step, next page': () => listContactsAtStep(on, { ...atStep, cursor: cursor ?? undefined }),
    'people in a step, page in the middle': () => listContactsAtStep(on, { ...atStep, cursor: middle }),
    'baseline: count the visits': () =>
      sql`SELECT step_id, status, output->>'branch', count(*) FROM execution_steps
        WHERE step_id = ANY(${stepIds}::uuid[]) GROUP BY 1, 2, 3`.execute(on),
  };
  const table: Record<string, { 'first ms': number; 'median ms': number; 'slowest ms': number }> = {};
  for (const [what, read] of Object.entries(reads)) {
    const times: number[] = [];
    for (let run = 0; run < (what.startsWith('baseline') ? 2 : 15); run++) times.push(await measureWork(read));
    const [first = 0, ...more] = times;
    more.sort((a, b) => a - b);
    const median = more[Math.floor(more.length / 2)] ?? first;
    table[what] = { 'first ms': first, 'median ms': median, 'slowest ms': Math.max(first, ...more) };
  }
  return table;
}

/** Returns the cursor after half of the contacts at a step. */
async function findMidCursor(on: Db, stepId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT execution_id AS id FROM execution_steps WHERE step_id = ${stepId} AND completed_at IS NULL
    ORDER BY execution_id DESC OFFSET ${Math.floor((executions * 0.3) / 2)} LIMIT 1`.execute(on);
  return rows[0] && encodeCursor([rows[0].id]);
}

/**
 * Measures what the triggers that count visits cost. As in a running execution, the start and the end of
 * each visit are separate statements and transactions.
 */
async function measureCountersCost(on: Db, workflow: Workflow) {
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(on);
  const pid = rows[0]?.pid ?? 0;
  const table: Record<string, number | string>[] = [];
  // Visit numbers start at the current time in seconds, because an earlier run may have left visits in the database.
  const base = Math.floor(Date.now() / 1000);
  for (let round = 0; round <= Number(values.rounds); round++) {
    const spent: Record<string, number> = {};
    for (const counters of [true, false]) {
      await sql`ALTER TABLE execution_steps ${counters ? sql`ENABLE` : sql`DISABLE`} TRIGGER USER`.execute(on);
      spent[counters ? 'with' : 'without'] = await measureVisitMicros(on, {
        ...workflow,
        pid,
        visit: base + 2 * round + Number(counters),
      });
    }
    const { with: counted = 0, without = 0 } = spent;
    table.push({
      round,
      'µs a visit with counters': counted,
      without,
      'counters µs': roundToTenths(counted - without),
    });
  }
  await sql`ALTER TABLE execution_steps ENABLE TRIGGER USER`.execute(on);
  // The first round is for warming up.
  return table.slice(1);
}

async function measureVisitMicros(on: Db, p: Workflow & { pid: number; visit: number }): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM executions WHERE workflow_id = ${p.id} ORDER BY id DESC LIMIT ${visits}`.execute(on);
  const before = readBackendCpuMicros(p.pid);
  for (const { id } of rows) {
    await sql`
      INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status)
      VALUES (${id}, ${p.visit}, ${p.projectId}, ${p.stepIds[1]}, 'DELAY', 'WAITING')`.execute(on);
    await sql`
      UPDATE execution_steps SET status = 'COMPLETED', completed_at = now() WHERE execution_id = ${id} AND visit = ${p.visit}
    `.execute(on);
  }
  return roundToTenths((readBackendCpuMicros(p.pid) - before) / rows.length);
}

/** On-CPU time of a process, in microseconds. */
function readBackendCpuMicros(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

async function measureWork(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return roundToTenths(performance.now() - from);
}
