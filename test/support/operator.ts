import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { RoundRequest } from '../../rules/periodic-round.ts';
import type { PeriodicKind } from '../../rules/periodic-work.ts';
import type { RoundResult } from '../../workflows/periodic-round.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';

/**
 * Changes workflows of a test service directly in Temporal, as an operator or a failure of Temporal does. The service
 * is not notified.
 */
export interface TestOperator {
  client: Client;
  /** Starts one round of periodic work, as its schedule does. */
  startRound(
    kind: PeriodicKind,
    request?: RoundRequest,
  ): Promise<WorkflowHandle<(request: RoundRequest) => Promise<RoundResult>>>;
  /** Runs one round of periodic work, as its schedule does. Returns when the round has ended. */
  runRound(kind: PeriodicKind, request?: RoundRequest): Promise<RoundResult>;
  /** Runs one round of recovery, as its schedule does every 5 minutes. Returns when the round has ended. */
  runRecovery(request?: RoundRequest): Promise<void>;
  /** Terminates the workflow. Returns when Temporal shows it as terminated. */
  terminate(workflowId: string): Promise<void>;
  /** Cancels the workflow. Returns when it has ended. */
  cancel(workflowId: string): Promise<void>;
  /**
   * Deletes workflows, running or not, from Temporal's database, as if they had been lost. Returns when Temporal lists
   * none of them.
   */
  deleteWorkflows(...workflowIds: string[]): Promise<void>;
  /** Waits until the workflow exists in Temporal. */
  waitForStart(workflowId: string): Promise<void>;
  close(): Promise<void>;
}

export async function connectOperator({
  temporal,
  names,
}: Pick<TestService, 'temporal' | 'names'>): Promise<TestOperator> {
  const { address, namespace } = temporal;
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const getHandle = (workflowId: string) => client.workflow.getHandle(workflowId);

  async function readStatus(workflowId: string): Promise<string | null> {
    try {
      return (await getHandle(workflowId).describe()).status.name;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }
  const countRuns = async (workflowId: string, status = '') =>
    (await client.workflow.count(`WorkflowId = '${workflowId}'${status}`)).count;
  const startRound = (kind: PeriodicKind, request: RoundRequest = {}) =>
    client.workflow.start<(request: RoundRequest) => Promise<RoundResult>>(`${kind}Round`, {
      taskQueue: names.taskQueue('workflows'),
      workflowId: names.schedule(`${kind}-${randomUUID()}`),
      args: [request],
    });
  const runRound = async (kind: PeriodicKind, request?: RoundRequest) => (await startRound(kind, request)).result();

  return {
    client,
    startRound,
    runRound,
    runRecovery: async (request = {}) => {
      const { failed } = await runRound('recovery', request);
      if (failed.length > 0) throw new Error(`recovery failed: ${failed.join(', ')}`);
    },
    terminate: async (workflowId) => {
      await getHandle(workflowId).terminate('a test');
      await until(
        async () => (await countRuns(workflowId, ` AND ExecutionStatus = 'Running'`)) === 0,
        'the termination',
      );
    },
    cancel: async (workflowId) => {
      await getHandle(workflowId).cancel();
      await until(async () => (await readStatus(workflowId)) === 'CANCELLED', 'the cancellation');
    },
    deleteWorkflows: async (...workflowIds) => {
      for (const workflowId of workflowIds) {
        const workflowExecution = { workflowId };
        await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
      }
      for (const workflowId of workflowIds) {
        await until(
          async () => (await readStatus(workflowId)) === null && (await countRuns(workflowId)) === 0,
          `the loss of ${workflowId}`,
        );
      }
    },
    waitForStart: async (workflowId) => {
      await until(async () => (await readStatus(workflowId)) !== null, `workflow ${workflowId}`);
    },
    close: () => client.connection.close(),
  };
}

/** Stops the rounds of these kinds of periodic work, so that they change nothing that a test has built. */
export async function pausePeriodicWork(service: TestService, kinds: readonly PeriodicKind[]): Promise<void> {
  const operator = await connectOperator(service);
  try {
    for (const kind of kinds) await operator.client.schedule.getHandle(service.names.schedule(kind)).pause();
  } finally {
    await operator.close();
  }
}
