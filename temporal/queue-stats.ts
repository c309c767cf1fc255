import type { Client } from '@temporalio/client';
import type { QueueStats } from '../rules/queue-stats.ts';
import { TASK_QUEUES, type TaskQueue } from '../rules/queues.ts';
import type { Target } from './names.ts';

/** Values of `TaskQueueType` in Temporal's API. */
const WORKFLOW_TASKS = 1;
const ACTIVITY_TASKS = 2;
/**
 * A worker polls at least once a minute, so a poller that was last seen longer ago has stopped. Temporal still lists
 * such a poller for some minutes.
 */
const POLLER_RECENT_MS = 70_000;

/**
 * Reads the state of all task queues of the installation. The queue `workflows` has workflow tasks; the other queues
 * have activity tasks.
 */
export async function readQueueStats({ client, names }: Target): Promise<QueueStats[]> {
  return Promise.all(
    Object.keys(TASK_QUEUES).map((queue) =>
      readQueue(client, { queue: queue as TaskQueue, name: names.taskQueue(queue as TaskQueue) }),
    ),
  );
}

async function readQueue(client: Client, { queue, name }: { queue: TaskQueue; name: string }): Promise<QueueStats> {
  const { stats, pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: queue === 'workflows' ? WORKFLOW_TASKS : ACTIVITY_TASKS,
    reportStats: true,
  });
  const seen = (pollers ?? []).filter(
    ({ lastAccessTime }) => Date.now() - 1000 * toNumber(lastAccessTime?.seconds) < POLLER_RECENT_MS,
  );
  const age = stats?.approximateBacklogAge;
  return {
    queue,
    backlog: toNumber(stats?.approximateBacklogCount),
    backlogSeconds: toNumber(age?.seconds) + (age?.nanos ?? 0) / 1e9,
    addedPerSecond: stats?.tasksAddRate ?? 0,
    dispatchedPerSecond: stats?.tasksDispatchRate ?? 0,
    pollers: seen.length,
  };
}

/** Converts a number of Temporal's API, which is a protobuf `Long`. */
function toNumber(value: { toString(): string } | null | undefined): number {
  return value === null || value === undefined ? 0 : Number(value.toString());
}
