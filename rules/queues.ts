/** Temporal's task queues, by what waits in them: one kind of work never waits behind another. */
export const TASK_QUEUES = {
  /** Tasks of workflows themselves. */
  workflows: 'workflows',
  /** Single mails and SMS. */
  transactional: 'transactional',
  /** Steps of executions, and what steers a campaign. */
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
