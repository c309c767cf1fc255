import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deletePassedTimerSeconds, recordTimerEnds } from '../../db/executions/timer-seconds.ts';
import { inTransaction } from '../../db/transaction.ts';
import { startExecutions } from '../../engine/automations/start.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

async function readCounts(at: number): Promise<{ project: string; booked: number }[]> {
  const { rows } = await sql<{ project: string; booked: number }>`
    SELECT project_id AS project, booked FROM timer_seconds WHERE second = ${Math.floor(at / 1_000)}
  `.execute(api.db);
  return rows;
}

/** Starts executions for new contacts, in one transaction. */
async function enter(workflow: BuiltWorkflow, count: number): Promise<void> {
  await inTransaction(api.db, async (trx) => {
    const { rows } = await sql<{ id: string }>`
      INSERT INTO contacts (project_id, email, subscribed)
      SELECT ${api.one.id}, uuidv7() || '@example.com', true FROM generate_series(1, ${count}::int) RETURNING id
    `.execute(trx);
    const start = { eventId: null, eventName: null, event: {}, context: {}, mode: 'live' as const };
    const more = { causeId: null, untrusted: false, untrustedTrigger: false };
    await startExecutions(trx, {
      projectId: api.one.id,
      workflow: { id: workflow.id, allowReentry: false, reentryKey: null, entryStepId: workflow.steps.pause ?? null },
      starts: rows.map(({ id }) => ({ ...start, ...more, contactId: id })),
    });
  });
}

async function listDueTimes(workflow: BuiltWorkflow): Promise<number[]> {
  const { rows } = await sql<{ due_at: Date }>`
    SELECT due_at FROM execution_steps WHERE step_id = ${workflow.steps.pause} ORDER BY due_at
  `.execute(api.db);
  return rows.map((row) => row.due_at.getTime());
}

it('timers that end in the same upcoming second are counted together, and the upcoming hours show their number', async () => {
  const at = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 2 * 3_600_000 + 123;
  const pause = { type: 'DELAY' as const, config: { until: new Date(at).toISOString() } };
  const workflow = await buildWorkflow(api, { steps: { pause }, eventName: 'wave' });
  await Promise.all([enter(workflow, 150), enter(workflow, 149), enter(workflow, 1)]);

  const instants = await listDueTimes(workflow);
  expect(instants).toEqual(Array(300).fill(at));
  const { rows: started } = await sql<{ at: string }>`
    SELECT payload->'next'->>'dueAt' AS at FROM outbox WHERE payload->>'workflowId' = ${workflow.id}
  `.execute(api.db);
  expect(started.map((row) => Date.parse(row.at))).toEqual(instants);
  expect(await readCounts(at)).toEqual([{ project: api.one.id, booked: 300 }]);
  const { hours } = await expectOk(api.call('GET', '/analytics/upcoming?hours=24'));
  expect(hours[2]).toMatchObject({ delays: 300 });
});

it('a transaction that is rolled back counts no timer', async () => {
  const at = Date.parse('2091-01-01T00:00:00.000Z');
  const undone = inTransaction(api.db, async (trx) => {
    await recordTimerEnds(trx, { projectId: api.one.id, ends: [new Date(at)] });
    throw new Error('rolled back');
  });
  await expect(undone).rejects.toThrow('rolled back');
  expect(await readCounts(at)).toEqual([]);
});

it('past seconds are deleted', async () => {
  const inAMinute = Date.now() + 60_000;
  await inTransaction(api.db, (trx) =>
    recordTimerEnds(trx, { projectId: api.two.id, ends: [new Date(0), new Date(inAMinute)] }),
  );
  await deletePassedTimerSeconds(api.db);
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM timer_seconds
    WHERE second IN (0, ${Math.floor(inAMinute / 1_000)}) AND project_id = ${api.two.id}
  `.execute(api.db);
  expect(rows).toEqual([{ n: 1 }]);
});
