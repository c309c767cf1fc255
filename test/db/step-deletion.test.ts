import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trx } from '../../db/connection.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deleteStep } from '../../db/workflows/workflow-steps.ts';
import { resumeExecution } from '../../engine/automations/resume.ts';
import { recordEvents } from '../../engine/events/record-events.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { until } from '../support/until.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const WAIT = { type: 'WAIT_FOR_EVENT' as const, config: { eventName: 'never' } };

async function createContact(email: string): Promise<string> {
  return (await expectOk(api.call('POST', '/v1/track', { body: { email, event: 'unrelated' } }))).data.contact;
}

function startExecution(contactId: string, name: string) {
  const events = [{ contactId, name, data: {}, untrusted: false, untrustedTrigger: false, causeId: null }];
  return (trx: Trx) => recordEvents(trx, { projectId: api.one.id, events });
}

function deleteStepOf(workflow: BuiltWorkflow, stepId: string | undefined) {
  const step = { projectId: api.one.id, workflowId: workflow.id, stepId: stepId ?? '', splice: false };
  return (trx: Trx) => deleteStep(trx, step);
}

/**
 * Runs `first` until just before its commit, and `second` until it waits for `first` or is done. Then runs both to
 * their end.
 */
async function interleave<A, B>(first: (trx: Trx) => Promise<A>, second: (trx: Trx) => Promise<B>): Promise<[A, B]> {
  let commit = () => {};
  const committing = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let ready = () => {};
  const one = inTransaction(api.db, async (trx) => {
    const result = await first(trx);
    ready();
    await committing;
    return result;
  });
  await new Promise<void>((resolve) => {
    ready = resolve;
  });
  let done = false;
  const two = inTransaction(api.db, second).finally(() => {
    done = true;
  });
  await until(async () => done || (await isWaiting()), 'the second transaction');
  commit();
  return Promise.all([one, two]);
}

async function isWaiting(): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
  `.execute(api.db);
  return rows.length > 0;
}

async function readExecution(workflow: BuiltWorkflow) {
  const { data } = await expectOk(api.call('GET', `/workflows/${workflow.id}/executions`));
  const waits = await sql`SELECT 1 FROM execution_waits WHERE execution_id = ${data[0].id}`.execute(api.db);
  return {
    execution: await expectOk(api.call('GET', `/workflows/${workflow.id}/executions/${data[0].id}`)),
    waits: waits.rows.length,
  };
}

const ENDED = { status: 'EXITED', exitReason: 'step_deleted', completedAt: expect.any(String) };

describe('deleting a step while an execution arrives and waits at it', () => {
  it('ends an execution that arrived before the deletion', async () => {
    const workflow = await buildWorkflow(api, { eventName: 'first', steps: { wait: WAIT } });
    const contactId = await createContact('first@example.com');
    await interleave(startExecution(contactId, 'first'), deleteStepOf(workflow, workflow.steps.wait));
    expect(await readExecution(workflow)).toMatchObject({
      execution: { ...ENDED, steps: [{ status: 'CANCELLED' }] },
      waits: 0,
    });
  });

  it('ends an execution that arrives after the deletion, and does not start it in Temporal', async () => {
    const workflow = await buildWorkflow(api, { eventName: 'second', steps: { wait: WAIT } });
    const contactId = await createContact('second@example.com');
    const [, { outbox }] = await interleave(
      deleteStepOf(workflow, workflow.steps.wait),
      startExecution(contactId, 'second'),
    );
    expect(await readExecution(workflow)).toMatchObject({
      execution: { ...ENDED, currentStepId: null, steps: [{ status: 'CANCELLED' }] },
      waits: 0,
    });
    expect(outbox).toEqual([]);
  });

  it('ends an execution whose DELAY ends after the deletion, and its Temporal workflow gets this end', async () => {
    const workflow = await buildWorkflow(api, {
      eventName: 'third',
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'wait' }, wait: WAIT },
    });
    const contactId = await createContact('third@example.com');
    await inTransaction(api.db, startExecution(contactId, 'third'));
    const { execution } = await readExecution(workflow);
    const input = { projectId: api.one.id, executionId: execution.id, visit: 1, resume: 'delay' as const };
    const [, standing] = await interleave(deleteStepOf(workflow, workflow.steps.wait), (trx) =>
      resumeExecution(trx, input),
    );
    expect(standing.next).toEqual({ kind: 'end', status: 'EXITED', reason: 'step_deleted' });
    expect(await readExecution(workflow)).toMatchObject({
      execution: { ...ENDED, steps: [{ status: 'COMPLETED' }, { status: 'CANCELLED' }] },
      waits: 0,
    });
  });
});
