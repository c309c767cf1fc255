import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, NativeConnection } from '@temporalio/worker';
import { TASK_QUEUE_KINDS, type TaskQueue } from '../../rules/queues.ts';
import { createTemporalWorkers, type DeploymentVersion } from '../../worker/temporal-workers.ts';

/** Bundles the workflows of a file in `test/support`, such as `broken-workflows.ts`, and writes the bundle to `path`. */
export async function bundleTestWorkflows(file: string, path: string): Promise<void> {
  const { code } = await bundleWorkflowCode({ workflowsPath: join(import.meta.dirname, file) });
  writeFileSync(path, code);
}

/**
 * Starts workers for all queues, as a worker process does, with the workflows of another bundle. Their activities do
 * nothing.
 */
export async function startWorkersWithBundle(p: {
  address: string;
  namespace: string;
  taskQueue: (queue: TaskQueue) => string;
  bundle: string;
  deployment?: DeploymentVersion;
}): Promise<{ close(): Promise<void> }> {
  const connection = await NativeConnection.connect({ address: p.address });
  const idle = { idle: async () => {} };
  const workers = await createTemporalWorkers({
    connection,
    namespace: p.namespace,
    identity: 'test-workers',
    taskQueue: p.taskQueue,
    activities: {
      transactional: idle,
      steps: idle,
      automation: idle,
      webhooks: idle,
      bulk: idle,
      periodic: idle,
      paced: idle,
    },
    workflowBundle: { codePath: p.bundle },
    queues: new Set(TASK_QUEUE_KINDS),
    deployment: p.deployment,
    loop: { runAs: (_, work) => work() },
    noteStarted: () => {},
    endLog: { write: () => {} } as never,
  });
  const runs = workers.map((worker) => worker.run());
  return {
    close: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
      await connection.close();
    },
  };
}
