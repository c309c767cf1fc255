/** The end of a workflow, as its worker observes it. */
export interface WorkflowEnd {
  /** The workflow's type. */
  type: string;
  outcome: 'completed' | 'failed' | 'cancelled';
  /** A code of ours, or what an EXIT says. */
  reason: string | null;
  /** Since the workflow started, over all its runs. */
  ms: number;
  ids: {
    projectId?: string | undefined;
    executionId?: string | undefined;
    campaignId?: string | undefined;
    jobId?: string | undefined;
  };
}
