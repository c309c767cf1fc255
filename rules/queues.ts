/** Temporal's task queues, by the work that waits in them: one kind of work never waits behind another. */
export const TASK_QUEUES = {
  /** Tasks of workflows themselves. */
  workflows: 'workflows',
  /**
   * Steps of executions. Temporal keeps activity tasks and workflow tasks in separate queues. Both have one name,
   * because only then can Temporal return a step to the worker that requested it, with the response to the workflow's
   * task.
   */
  steps: 'workflows',
  /** Single emails and SMS. */
  transactional: 'transactional',
  /** Short statements that control a campaign, and steps that an earlier release has queued here. */
  automation: 'automation',
  /** Requests to servers of tenants. */
  webhooks: 'webhooks',
  /** Campaigns and imports. */
  bulk: 'bulk',
  /** Periodic work, which must not wait behind a campaign or an import. */
  periodic: 'periodic',
  /** Chunks of campaigns that wait for a send rate. */
  paced: 'paced',
} as const;
export type TaskQueue = keyof typeof TASK_QUEUES;
export const TASK_QUEUE_KINDS = Object.keys(TASK_QUEUES) as [TaskQueue, ...TaskQueue[]];

/**
 * Returns the queues that a worker process serves: the named ones, or all. A process that serves workflows also
 * serves the steps, so that Temporal may return a step with the response to the workflow's task.
 */
export function servedQueues(named: readonly TaskQueue[]): ReadonlySet<TaskQueue> {
  if (named.length === 0) return new Set(TASK_QUEUE_KINDS);
  return new Set(named.includes('workflows') ? [...named, 'steps'] : named);
}

/**
 * Returns the name of an installation's task queue. Releases before 2026-11-26 named queues without an installation.
 */
export function taskQueueOf(shortId: string, queue: TaskQueue): string {
  return `${shortId}-${TASK_QUEUES[queue]}`;
}

/**
 * Returns the name of another queue of the installation whose workflow queue is given. A workflow that started on the
 * queue `workflows` of an earlier release gets the earlier queues. A replay of a saved history runs on a queue with
 * another name, and does not compare queues.
 */
export function taskQueueBeside(workflowQueue: string, queue: TaskQueue): string {
  const prefix = workflowQueue.endsWith(TASK_QUEUES.workflows)
    ? workflowQueue.slice(0, -TASK_QUEUES.workflows.length)
    : '';
  return `${prefix}${TASK_QUEUES[queue]}`;
}

/** Temporal's priority keys; lower ones come first. A password reset comes before a campaign. */
export const PRIORITY = { transactional: 1, automation: 3, bulk: 5 } as const;
