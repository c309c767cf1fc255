/** How a Temporal workflow ended, for the log and for metrics. */
export interface WorkflowEnd {
  /** The workflow's type. */
  type: string;
  outcome: 'completed' | 'failed' | 'cancelled';
  /** A code of the service, or the reason of an EXIT step. */
  reason: string | null;
  /** Milliseconds since the workflow started, over all its runs. */
  ms: number;
  ids: {
    projectId?: string | undefined;
    executionId?: string | undefined;
    campaignId?: string | undefined;
    jobId?: string | undefined;
  };
}
