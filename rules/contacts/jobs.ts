export const BULK_KINDS = ['bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete'] as const;
export const JOB_KINDS = ['import', ...BULK_KINDS] as const;
export const JOB_STATUSES = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;

export type BulkKind = (typeof BULK_KINDS)[number];
export type JobKind = (typeof JOB_KINDS)[number];
export type JobStatus = (typeof JOB_STATUSES)[number];
/** The status of a job in the words that older clients expect. */
export type JobState = 'waiting' | 'active' | 'completed' | 'failed';

/** Maximum number of errors that a job stores. Further errors are only counted. Source: contract §3.5 Import. */
export const JOB_ERRORS_MAX = 1_000;
/** Maximum number of contacts of one bulk request. Source: contract §1.11 Limits. */
export const BULK_MAX_IDS = 1_000;

export interface ImportError {
  /**
   * The number of the row in a spreadsheet: blank rows count, and a cell with line breaks does not add rows. Jobs of
   * earlier versions did not count blank rows.
   */
  row: number;
  email: string;
  error: string;
}

export interface ImportWarning {
  /** The number of the row in the file, as in `ImportError`. */
  row: number;
  email: string;
  warning: string;
}

export interface ImportResult {
  totalRows: number;
  successCount: number;
  createdCount: number;
  updatedCount: number;
  failureCount: number;
  /**
   * The number of skipped rows: blank lines, and rows that contain only delimiters. Absent in jobs of earlier versions.
   */
  blankRows?: number;
  /** The number of failed rows that are not readable as CSV. Absent in jobs of earlier versions. */
  unreadableRows?: number;
  /** The first 1,000. */
  errors: ImportError[];
  /**
   * The number of rows that were imported although one of their values cannot be used. Absent in jobs of earlier
   * versions.
   */
  warningCount?: number;
  /** The first 1,000. */
  warnings?: ImportWarning[];
  /** Sentences that tell the user which columns were recognized by their names. */
  notes?: string[];
}

export interface BulkResult {
  operation: 'subscribe' | 'unsubscribe' | 'delete';
  totalRequested: number;
  successCount: number;
  failureCount: number;
  errors: { contactId: string; error: string }[];
}

/** The input of the workflows that run jobs. It has no contents, because Temporal shows the input. */
export interface JobInput {
  projectId: string;
  jobId: string;
  kind: JobKind;
}

const STATES: Record<JobStatus, JobState> = {
  QUEUED: 'waiting',
  RUNNING: 'active',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'failed',
};

export function toJobState(status: JobStatus): JobState {
  return STATES[status];
}

export function toBulkOperation(kind: BulkKind): BulkResult['operation'] {
  return kind === 'bulk-subscribe' ? 'subscribe' : kind === 'bulk-unsubscribe' ? 'unsubscribe' : 'delete';
}

/**
 * Returns the progress in percent: 100 for a COMPLETED job, whatever its counters are, and at most 99 for any other
 * job.
 */
export function computeJobProgress(job: { status: JobStatus; total: number; processed: number }): number {
  if (job.status === 'COMPLETED') return 100;
  return job.total === 0 ? 0 : Math.min(99, Math.floor((job.processed / job.total) * 100));
}
