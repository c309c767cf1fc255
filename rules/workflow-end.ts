/** The end of a workflow. */
export interface WorkflowEnd {
  /** The workflow's type. */
  type: string;
  outcome: 'completed' | 'failed' | 'cancelled';
  /** One of our codes, or the reason of an EXIT step. */
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
