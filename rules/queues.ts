/** Temporal's task queues, by what waits in them: one kind of work never waits behind another. */
export const TASK_QUEUES = {
  /** Tasks of workflows themselves. */
  workflows: 'workflows',
  /**
   * Steps of executions. For Temporal tasks of activities are a queue apart from those of workflows; that both have one
   * name is why it may give a step to the worker that asked for it, with the answer to the workflow's task.
   */
  steps: 'workflows',
  /** Single mails and SMS. */
  transactional: 'transactional',
  /** What steers a campaign, and steps that an earlier release has put here. */
  automation: 'automation',
  /** Requests to servers of tenants. */
  webhooks: 'webhooks',
  /** Campaigns, imports and what comes round by itself. */
  bulk: 'bulk',
  /** Chunks of campaigns that wait for a send rate. */
  paced: 'paced',
} as const;
export type TaskQueue = keyof typeof TASK_QUEUES;

/** Temporal's priority keys: lower goes first. A password reset passes a campaign. */
export const PRIORITY = { transactional: 1, automation: 3, bulk: 5 } as const;
