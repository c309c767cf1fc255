/**
 * Temporal's task queues. Each kind of work has its own queue, so that waiting tasks of one kind do not delay another.
 */
export const TASK_QUEUES = {
  /** Workflow tasks. */
  workflows: 'workflows',
  /**
   * Activity tasks for steps of executions. Temporal separates activity tasks from workflow tasks even if both queues
   * have the same name. Because of the same name, Temporal can give an activity directly to the worker that completes a
   * workflow task (eager start).
   */
  steps: 'workflows',
  /** Later attempts of single emails and SMS. Workers make the first attempt without Temporal. */
  transactional: 'transactional',
  /**
   * Short activities that control a campaign or cancel a run, and steps that an earlier release has queued here.
   */
  automation: 'automation',
  /** Requests to servers of tenants. */
  webhooks: 'webhooks',
  /** Chunks of campaigns, imports, and other work on many rows of a project. */
  bulk: 'bulk',
  /** Periodic work, which must not wait behind a campaign or an import. */
  periodic: 'periodic',
  /** Chunks of campaigns in projects with a send rate. These activities wait most of the time. */
  paced: 'paced',
} as const;
export type TaskQueue = keyof typeof TASK_QUEUES;
export const TASK_QUEUE_KINDS = Object.keys(TASK_QUEUES) as [TaskQueue, ...TaskQueue[]];

/**
 * Returns the task queues that a worker process serves: the requested queues, or all if none is requested. A process
 * that serves `workflows` also serves `steps`, so that Temporal can give it an activity when it completes a workflow
 * task.
 */
export function listServedQueues(requested: readonly TaskQueue[]): ReadonlySet<TaskQueue> {
  if (requested.length === 0) return new Set(TASK_QUEUE_KINDS);
  return new Set(requested.includes('workflows') ? [...requested, 'steps'] : requested);
}

/**
 * Returns the name of an installation's task queue. Releases before 2026-11-26 named queues without an installation.
 */
export function toTaskQueueName(shortId: string, queue: TaskQueue): string {
  return `${shortId}-${TASK_QUEUES[queue]}`;
}

/**
 * Returns the name of a task queue of the same installation, for code inside a workflow. `workflowQueue` is the queue
 * on which the workflow runs. A workflow that started on the queue `workflows` of an earlier release uses the queues of
 * that release. A replay of a saved history runs on a queue with another name, and does not compare queues.
 */
export function toSiblingQueueName(workflowQueue: string, queue: TaskQueue): string {
  const prefix = workflowQueue.endsWith(TASK_QUEUES.workflows)
    ? workflowQueue.slice(0, -TASK_QUEUES.workflows.length)
    : '';
  return `${prefix}${TASK_QUEUES[queue]}`;
}

/** Temporal's priority keys. Tasks with a lower key come first: a password reset comes before a campaign. */
export const PRIORITY = { transactional: 1, automation: 3, bulk: 5 } as const;
