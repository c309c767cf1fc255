import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bookTimers,
  deletePassedTimerSeconds,
  type Pace,
  reportFollowed,
  setTimerRate,
  TIMERS_PER_SECOND,
} from '../../db/executions/timer-seconds.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startExecutions } from '../../engine/automations/start.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, type StepSpec } from '../build/workflows.ts';
import { startTestApi, type TestApi, type TestProject } from '../support/api.ts';

/** A date beyond all others; each test uses an hour of its own. */
const HOURS = Date.parse('2090-01-01T00:00:00.000Z');
let hours = 0;
function anHour(): number {
  hours += 1;
  return HOURS + hours * 3_600_000;
}

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const until = (at: number): StepSpec => ({ type: 'DELAY', config: { until: new Date(at).toISOString() } });

async function buildFor(project: TestProject, step: StepSpec): Promise<BuiltWorkflow> {
  const caller: typeof api.call = (method, path, options) =>
    api.call(method, path, { ...options, key: project.secretKey });
  return buildWorkflow({ call: caller }, { steps: { step }, eventName: 'wave' });
}

/** Lets new contacts into a workflow, in one transaction. */
async function enter(project: TestProject, workflow: BuiltWorkflow, count: number): Promise<void> {
  await inTransaction(api.db, async (trx) => {
    const { rows } = await sql<{ id: string }>`
      INSERT INTO contacts (project_id, email, subscribed)
      SELECT ${project.id}, uuidv7() || '@example.com', true FROM generate_series(1, ${count}::int) RETURNING id
    `.execute(trx);
    const start = { eventId: null, eventName: null, event: {}, context: {}, mode: 'live' as const };
    await startExecutions(trx, {
      projectId: project.id,
      workflow: { id: workflow.id, allowReentry: false, reentryKey: null, entryStepId: workflow.steps.step ?? null },
      starts: rows.map(({ id }) => ({
        ...start,
        contactId: id,
        causeId: null,
        untrusted: false,
        untrustedTrigger: false,
      })),
    });
  });
}

async function instantsOf(workflow: BuiltWorkflow): Promise<number[]> {
  const { rows } = await sql<{ due_at: Date }>`
    SELECT due_at FROM execution_steps WHERE step_id = ${workflow.steps.step} ORDER BY due_at
  `.execute(api.db);
  return rows.map((row) => row.due_at.getTime());
}

const fullest = (instants: number[]) =>
  Math.max(...[...groupBy(instants, (at) => Math.floor(at / 1_000)).values()].map((all) => all.length));

describe('timers of one instant', () => {
  it('are spread over as many seconds as they need, none is early, and the record shows each', async () => {
    const at = anHour();
    const workflow = await buildFor(api.one, until(at));
    await Promise.all(Array.from({ length: 4 }, () => enter(api.one, workflow, 50)));
    const instants = await instantsOf(workflow);
    expect(instants).toHaveLength(200);
    expect(fullest(instants)).toBe(TIMERS_PER_SECOND);
    expect(instants[0]).toBe(at);
    expect(instants.at(-1)).toBeLessThan(at + (200 / TIMERS_PER_SECOND) * 1_000);

    const { rows: started } = await sql<{ at: string }>`
      SELECT payload->'next'->>'dueAt' AS at FROM outbox WHERE payload->>'workflowId' = ${workflow.id}
    `.execute(api.db);
    expect(started.map((row) => Date.parse(row.at)).sort((a, b) => a - b)).toEqual(instants);
    const { data } = await expectOk(api.call('GET', `/workflows/${workflow.id}/executions`));
    const { steps } = await expectOk(api.call('GET', `/workflows/${workflow.id}/executions/${data[0].id}`));
    expect(instants).toContain(Date.parse(steps[0].dueAt));
  });

  it('leave seconds between them for other timers', async () => {
    const at = anHour();
    const first = await buildFor(api.one, until(at));
    const second = await buildFor(api.one, until(at + 2_000));
    await enter(api.one, first, 200);
    await enter(api.one, second, 100);
    await enter(api.one, first, 100);
    const instants = [...(await instantsOf(first)), ...(await instantsOf(second))];
    expect(fullest(instants)).toBe(TIMERS_PER_SECOND);
    expect(Math.max(...instants)).toBeLessThan(at + (400 / TIMERS_PER_SECOND) * 1_000);
  });

  it('in two projects do not delay each other', async () => {
    const at = anHour();
    const ours = await buildFor(api.one, until(at));
    const theirs = await buildFor(api.two, until(at));
    await enter(api.one, ours, 2 * TIMERS_PER_SECOND);
    await enter(api.two, theirs, TIMERS_PER_SECOND);
    expect(new Set(await instantsOf(theirs))).toEqual(new Set([at]));
  });

  it('are spread when they are deadlines of waits, and the wait has the same', async () => {
    const config = { eventName: 'never', timeout: 86_400 };
    const workflow = await buildFor(api.two, { type: 'WAIT_FOR_EVENT', config });
    await enter(api.two, workflow, 100);
    expect(fullest(await instantsOf(workflow))).toBeLessThanOrEqual(TIMERS_PER_SECOND);
    const { rows } = await sql<{ same: boolean }>`
      SELECT w.deadline_at = s.due_at AS same FROM execution_waits w JOIN execution_steps s USING (execution_id, visit)
      WHERE s.step_id = ${workflow.steps.step}
    `.execute(api.db);
    expect(rows).toEqual(Array.from({ length: 100 }, () => ({ same: true })));
  });
});

describe('a timer alone', () => {
  it('ends to the millisecond when it is asked to', async () => {
    const at = anHour() + 123;
    const workflow = await buildFor(api.one, until(at));
    await enter(api.one, workflow, 1);
    expect(await instantsOf(workflow)).toEqual([at]);
  });

  it('books no second if its transaction is rolled back', async () => {
    const at = anHour();
    const timer = { dueAt: new Date(at), moveTo: () => {} };
    const undone = inTransaction(api.db, async (trx) => {
      await bookTimers(trx, { projectId: api.one.id, timers: [timer] });
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    const { rows } = await sql`SELECT 1 FROM timer_seconds WHERE second = ${at / 1_000}`.execute(api.db);
    expect(rows).toEqual([]);
  });
});

it('deletes past seconds', async () => {
  await inTransaction(api.db, (trx) =>
    bookTimers(trx, { projectId: api.two.id, timers: [{ dueAt: new Date(0), moveTo: () => {} }] }),
  );
  await deletePassedTimerSeconds(api.db);
  const { rows } = await sql`SELECT 1 FROM timer_seconds WHERE second < extract(epoch FROM now()) - 3600`.execute(
    api.db,
  );
  expect(rows).toEqual([]);
});

it('the rate is one for all processes, and 0 is no bound', async () => {
  const at = anHour();
  const workflow = await buildFor(api.one, until(at));
  await setTimerRate(api.db, 0);
  await enter(api.one, workflow, 2 * TIMERS_PER_SECOND);
  expect(new Set(await instantsOf(workflow))).toEqual(new Set([at]));
  await setTimerRate(api.db, 5);
  const other = await buildFor(api.two, until(at));
  await enter(api.two, other, 20);
  expect(fullest(await instantsOf(other))).toBe(5);
});

it('as many timers end in a second as all workers see Temporal follow with ease, and less and less when they see less, or it is late', async () => {
  const rate = async () =>
    (await sql<{ n: number }>`SELECT per_second AS n FROM timer_rate`.execute(api.db)).rows[0]?.n;
  const [one, two] = ['0190a000-0000-7000-8000-000000000001', '0190a000-0000-7000-8000-000000000002'] as const;
  const report = (workerId: string, perSecond: number, pace: Pace = 'easy') =>
    reportFollowed(api.db, { workerId, perSecond, atLeast: 20, pace });
  await report(one, 3);
  expect(await rate()).toBe(20);
  await report(one, 300);
  await report(two, 200);
  expect(await rate()).toBe(500);
  await report(one, 0);
  expect(await rate()).toBe(475);
  // A report from a full server leaves nothing to others.
  await report(one, 900, 'busy');
  expect(await rate()).toBe(451);
  await report(one, 900, 'late');
  expect(await rate()).toBe(360);
  for (let n = 0; n < 100; n += 1) await report(two, 0, 'late');
  expect(await rate()).toBe(20);
  await setTimerRate(api.db, TIMERS_PER_SECOND);
});
