import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type ChunkDone, runBulkChunk } from '../db/bulk-chunk.ts';
import { runImportChunk } from '../db/import-chunk.ts';
import { findJobFile, finishJob, isBulkKind } from '../db/jobs.ts';
import { inTransaction } from '../db/transaction.ts';
import type { JobInput } from '../domain/jobs.ts';
import { deriveKey } from '../domain/secrets.ts';
import type { ActivityDeps } from './deps.ts';

/** Work of one activity: long enough to be worth its cost in Temporal, short enough that a stop loses no time to it. */
const ACTIVITY_MS = 5_000;

export interface JobProgress {
  done: boolean;
  /** Contacts or rows done so far. */
  processed: number;
}

export interface JobEnd extends JobInput {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  failedReason?: string;
}

export type JobActivities = ReturnType<typeof jobActivities>;

/**
 * Jobs over many contacts. All may run again, and two attempts at once do no harm: each chunk locks its job, and its effect commits
 * together with the job's cursor.
 */
export function jobActivities({ db, config, lifecycle }: ActivityDeps) {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  async function runChunks(next: () => Promise<ChunkDone>): Promise<JobProgress> {
    const until = Date.now() + ACTIVITY_MS;
    for (;;) {
      const chunk = await next();
      lifecycle.dispatch(chunk.outbox);
      if (chunk.done || Date.now() > until) return { done: chunk.done, processed: chunk.processed };
      heartbeat(chunk.processed);
      cancellationSignal().throwIfAborted();
    }
  }

  return {
    /** Does chunks of a bulk job for some seconds. */
    async runBulkJob({ projectId, jobId, kind }: JobInput): Promise<JobProgress> {
      if (!isBulkKind(kind)) throw ApplicationFailure.nonRetryable(`unknown kind of job: ${kind}`, 'UNKNOWN_JOB_KIND');
      return runChunks(() =>
        inTransaction(db, (trx) => runBulkChunk(trx, { projectId, id: jobId, kind, suppressionKey })),
      );
    },

    /** Imports chunks of a file for some seconds. The file, 5 MB at most, is held for that time only. */
    async runImport({ projectId, jobId }: JobInput): Promise<JobProgress> {
      const file = await findJobFile(db, { projectId, id: jobId });
      // No file: an earlier attempt has finished the job.
      if (!file) return { done: true, processed: 0 };
      return runChunks(() =>
        inTransaction(db, (trx) => runImportChunk(trx, { projectId, id: jobId, file, suppressionKey })),
      );
    },

    /** Writes down how a job ended. */
    async endJob({ projectId, jobId, status, failedReason }: JobEnd): Promise<void> {
      await finishJob(db, { projectId, id: jobId, status, ...(failedReason !== undefined && { failedReason }) });
    },
  };
}
