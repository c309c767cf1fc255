import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { track } from '../build/events.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, listExecutions, type StepSpec } from '../build/workflows.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let operator: TestOperator;
let templateId: string;

beforeAll(async () => {
  service = await startTestService();
  operator = await connectOperator(service);
  await buildDomain(service.db, { projectId: service.one.id });
  templateId = await buildTemplate(service.db, { projectId: service.one.id });
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
});

const EXIT: StepSpec = { type: 'EXIT', config: { reason: 'through' } };
const createDelay = (amount: number, unit: string): StepSpec => ({
  type: 'DELAY',
  config: { amount, unit },
  to: 'end',
});

const readExecution = ({ id }: BuiltWorkflow, executionId: string) =>
  expectOk(service.call('GET', `/workflows/${id}/executions/${executionId}`));

/** Starts an execution. Returns its id when Temporal runs it. */
async function startExecution(workflow: BuiltWorkflow, event: string, email = 'ada@example.com'): Promise<string> {
  const { contact } = (await track(service, email, event)).data;
  const [execution] = (await listExecutions(service, workflow.id)).filter(
    (e: { contactId: string }) => e.contactId === contact,
  );
  await operator.waitForStart(service.names.execution(execution.id));
  return execution.id;
}

const waitForEnd = (workflow: BuiltWorkflow, executionId: string) =>
  until(async () => {
    const execution = await readExecution(workflow, executionId);
    return execution.completedAt && execution;
  }, 'the end of the execution');

describe('an execution whose workflow an operator ended in Temporal', () => {
  for (const how of ['terminate', 'cancel'] as const) {
    it(`is CANCELLED with the reason after a ${how}`, async () => {
      const steps = { pause: createDelay(1, 'days'), end: EXIT };
      const workflow = await buildWorkflow(service, { eventName: how, steps });
      const stopped = await startExecution(workflow, how);
      const other = await startExecution(workflow, how, 'other@example.com');
      await operator[how](service.names.execution(stopped));
      await operator.runRecovery();
      expect(await readExecution(workflow, stopped)).toMatchObject({
        status: 'CANCELLED',
        exitReason: 'cancelled',
        error: `An operator ${how === 'cancel' ? 'cancelled' : 'terminated'} the execution in Temporal.`,
        steps: [{ type: 'DELAY', status: 'CANCELLED' }],
      });
      expect(await readExecution(workflow, other)).toMatchObject({ status: 'WAITING', completedAt: null });
    });
  }

  it("continues after an operator's reset, which terminates a run and starts another", async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'reset',
      steps: { pause: createDelay(1, 'days'), end: EXIT },
    });
    const id = await startExecution(workflow, 'reset');
    const workflowId = service.names.execution(id);
    const described = await until(async () => {
      const found = await operator.client.workflow.getHandle(workflowId).describe();
      return found.historyLength >= 4 && found;
    }, 'the first workflow task');
    await operator.client.workflowService.resetWorkflowExecution({
      namespace: service.temporal.namespace,
      workflowExecution: { workflowId, runId: described.runId },
      workflowTaskFinishEventId: 4 as never,
      requestId: 'reset',
    });
    await operator.runRecovery();
    expect(await readExecution(workflow, id)).toMatchObject({ status: 'WAITING', completedAt: null });
  });
});

describe('an execution that Temporal has lost', () => {
  it('keeps the end of its delay, and continues', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'delayed',
      steps: { pause: createDelay(5, 'seconds'), end: EXIT },
    });
    const id = await startExecution(workflow, 'delayed');
    const [{ dueAt }] = (await readExecution(workflow, id)).steps;
    await operator.deleteWorkflows(service.names.execution(id));
    await operator.runRecovery();
    const execution = await waitForEnd(workflow, id);
    expect(execution).toMatchObject({ status: 'EXITED', exitReason: 'through' });
    expect(execution.steps).toMatchObject([{ type: 'DELAY', dueAt, attempts: 1 }, { type: 'EXIT' }]);
  });

  it('continues with the event that arrived while it had no workflow', async () => {
    const steps: Record<string, StepSpec> = {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid' }, to: { event: 'end' } },
      end: EXIT,
    };
    const workflow = await buildWorkflow(service, { eventName: 'waits', steps });
    const id = await startExecution(workflow, 'waits');
    await operator.deleteWorkflows(service.names.execution(id));
    await track(service, 'ada@example.com', 'paid');
    // Deletes the outbox row, as if Temporal had received the signal before it lost everything.
    await sql`DELETE FROM outbox WHERE kind = 'execution.event' AND ref_id = ${id}`.execute(service.db);
    await operator.runRecovery();
    expect(await waitForEnd(workflow, id)).toMatchObject({
      exitReason: 'through',
      steps: [{ output: { branch: 'event' } }, {}],
    });
  });

  it('keeps waiting for its event', async () => {
    const steps: Record<string, StepSpec> = {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'later' }, to: { event: 'end' } },
      end: EXIT,
    };
    const workflow = await buildWorkflow(service, { eventName: 'waits-on', steps });
    const id = await startExecution(workflow, 'waits-on');
    await operator.deleteWorkflows(service.names.execution(id));
    await operator.runRecovery();
    await operator.waitForStart(service.names.execution(id));
    await track(service, 'ada@example.com', 'later');
    expect(await waitForEnd(workflow, id)).toMatchObject({
      exitReason: 'through',
      steps: [{ output: { branch: 'event' } }, {}],
    });
  });

  it('runs its current effect once', async () => {
    const steps: Record<string, StepSpec> = {
      mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'end' },
      end: EXIT,
    };
    const workflow = await buildWorkflow(service, { eventName: 'mailed', steps });
    await service.stopWorker();
    await track(service, 'once@example.com', 'mailed');
    const [{ id }] = await listExecutions(service, workflow.id);
    // Deletes the outbox row, as if a worker had handed it to Temporal before Temporal lost everything.
    await sql`DELETE FROM outbox WHERE ref_id = ${id}`.execute(service.db);
    await service.startWorker();
    await operator.runRecovery();
    await waitForEnd(workflow, id);
    await operator.runRecovery();
    const emails = await service.db.selectFrom('emails').select('status').where('execution_id', '=', id).execute();
    expect(emails).toEqual([{ status: 'SENT' }]);
  });

  it('ends if its step was deleted meanwhile', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'edited',
      steps: { pause: createDelay(1, 'days'), end: EXIT },
    });
    const id = await startExecution(workflow, 'edited');
    await operator.deleteWorkflows(service.names.execution(id));
    await sql`DELETE FROM workflow_steps WHERE id = ${workflow.steps.pause}`.execute(service.db);
    await operator.runRecovery();
    expect(await readExecution(workflow, id)).toMatchObject({ status: 'EXITED', exitReason: 'step_deleted' });
  });

  it('is found among many healthy executions, whose runs do not change', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'many',
      steps: { pause: createDelay(1, 'days'), end: EXIT },
    });
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await startExecution(workflow, 'many', `many${n}@example.com`));
    const listRunIds = () =>
      Promise.all(
        ids.map(async (id) => (await operator.client.workflow.getHandle(service.names.execution(id)).describe()).runId),
      );
    const before = await listRunIds();
    await operator.deleteWorkflows(...[3, 11, 12].map((n) => service.names.execution(ids[n] ?? '')));
    await operator.runRecovery();
    for (const n of [3, 11, 12]) await operator.waitForStart(service.names.execution(ids[n] ?? ''));
    const changed = (await listRunIds()).flatMap((run, n) => (run === before[n] ? [] : [n]));
    expect(changed).toEqual([3, 11, 12]);
  });
});
