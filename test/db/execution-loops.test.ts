import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { resumeExecution } from '../../engine/automations/resume.ts';
import type { Next, Resume } from '../../rules/executions/execution.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, type StepSpec } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

interface StartedLoop {
  workflow: BuiltWorkflow;
  executionId: string;
  email: string;
}

/** Builds a workflow with these steps, and an execution of a new contact. */
async function startExecution(name: string, steps: Record<string, StepSpec>): Promise<StartedLoop> {
  const workflow = await buildWorkflow(api, { eventName: name, steps });
  const email = `${name}@example.com`;
  await expectOk(api.call('POST', '/v1/track', { body: { email, event: name } }));
  const { data } = await expectOk(api.call('GET', `/workflows/${workflow.id}/executions`));
  return { workflow, executionId: data[0].id, email };
}

/** Does the work of the activity that runs after a pause, without waiting for the pause. */
async function resume({ executionId }: StartedLoop, visit: number, how: Resume): Promise<Next> {
  const input = { projectId: api.one.id, executionId, visit, resume: how };
  return (await inTransaction(api.db, (trx) => resumeExecution(trx, input))).next;
}

async function backdate({ executionId }: StartedLoop, seconds: number): Promise<void> {
  await sql`
    UPDATE execution_steps SET started_at = started_at - make_interval(secs => ${seconds}) WHERE execution_id = ${executionId}
  `.execute(api.db);
}

const LOOP = { kind: 'end', status: 'FAILED', reason: 'loop' };
const createDelay = (seconds: number): StepSpec => ({
  type: 'DELAY',
  config: { amount: seconds, unit: 'seconds' },
  to: 'turn',
});
const turn: StepSpec = {
  type: 'CONDITION',
  config: { field: 'email', operator: 'exists' },
  to: { yes: 'first', no: 'first' },
};
const wait: StepSpec = { type: 'WAIT_FOR_EVENT', config: { eventName: 'go', timeout: 86_400 }, to: 'turn' };

describe('the loop guard of a cycle', () => {
  it('accepts a cycle that takes exactly 60 seconds, as often as it repeats', async () => {
    const started = await startExecution('minute', { first: createDelay(60), turn });
    expect(await resume(started, 1, 'delay')).toMatchObject({ kind: 'delay', visit: 3 });
    expect(await resume(started, 3, 'delay')).toMatchObject({ kind: 'delay', visit: 5 });
  });

  it('counts a delay with the length that it had at its start', async () => {
    const started = await startExecution('edited', { first: createDelay(60), turn });
    const config = { amount: 59, unit: 'seconds' };
    const path = `/workflows/${started.workflow.id}/steps/${started.workflow.steps.first}`;
    await expectOk(api.call('PATCH', path, { body: { config } }));
    expect(await resume(started, 1, 'delay')).toMatchObject({ kind: 'delay', visit: 3 });
    expect(await resume(started, 3, 'delay')).toMatchObject(LOOP);
    const execution = await expectOk(
      api.call('GET', `/workflows/${started.workflow.id}/executions/${started.executionId}`),
    );
    expect(execution).toMatchObject({ status: 'FAILED', error: 'loop', currentStepId: started.workflow.steps.turn });
  });

  it('counts a wait with its real duration', async () => {
    const trackGo = (email: string) => expectOk(api.call('POST', '/v1/track', { body: { email, event: 'go' } }));
    const tooShort = await startExecution('short', { first: wait, turn });
    await trackGo(tooShort.email);
    expect(await resume(tooShort, 1, 'event')).toMatchObject(LOOP);
    const longEnough = await startExecution('long', { first: wait, turn });
    await backdate(longEnough, 60);
    await trackGo(longEnough.email);
    expect(await resume(longEnough, 1, 'event')).toMatchObject({ kind: 'wait', visit: 3 });
  });

  it('counts a wait that timed out with its timeout', async () => {
    const started = await startExecution('ranout', {
      first: { ...wait, config: { eventName: 'go', timeout: 60 } },
      turn,
    });
    expect(await resume(started, 1, 'timeout')).toMatchObject({ kind: 'wait', visit: 3 });
  });
});

describe('the limits of an execution', () => {
  it('end it after 1,000 visits of steps', async () => {
    const started = await startExecution('far', { first: createDelay(86_400), turn });
    await sql`UPDATE execution_steps SET visit = 997 WHERE execution_id = ${started.executionId}`.execute(api.db);
    await sql`UPDATE executions SET visit = 997 WHERE id = ${started.executionId}`.execute(api.db);
    expect(await resume(started, 997, 'delay')).toMatchObject({ kind: 'delay', visit: 999 });
    expect(await resume(started, 999, 'delay')).toMatchObject(LOOP);
    const { rows } = await sql<{ last: number }>`
      SELECT max(visit) AS last FROM execution_steps WHERE execution_id = ${started.executionId}
    `.execute(api.db);
    expect(rows[0]?.last).toBe(1_000);
  });

  it('need no stored counts if it cannot reach a step twice', async () => {
    const straight = await startExecution('straight', {
      first: { type: 'DELAY', config: { amount: 1, unit: 'days' } },
    });
    const { rows } = await sql`SELECT laps FROM executions WHERE id = ${straight.executionId}`.execute(api.db);
    expect(rows).toEqual([{ laps: null }]);
  });
});
