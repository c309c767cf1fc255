import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { TestTemporal } from './services.ts';

/**
 * Runs `work` in a new namespace, with one worker for the real workflows and another worker for these activities on
 * `taskQueue`. Both workers have stopped when it returns.
 */
export async function withWorkers<T>(
  temporal: TestTemporal,
  p: { taskQueue: string; activities: object },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { address, namespace } = temporal;
  const connection = await NativeConnection.connect({ address });
  const workflows = await Worker.create({
    connection,
    namespace,
    taskQueue: 'workflows',
    workflowBundle: { codePath: temporal.workflowBundle },
  });
  const activities = await Worker.create({ connection, namespace, ...p });
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  try {
    return await workflows.runUntil(activities.runUntil(() => work(client)));
  } finally {
    await client.connection.close();
    await connection.close();
  }
}
