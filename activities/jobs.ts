import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { OverBudget } from '../compute/compute.ts';
import { findImport, finishJob, getJobStatus, isBulkKind } from '../db/contacts/jobs.ts';
import { findPhoneCountry } from '../db/projects/phone-country.ts';
import { inTransaction } from '../db/transaction.ts';
import { type ChunkProgress, runBulkChunk } from '../engine/contacts/bulk-chunk.ts';
import { IMPORT_CHUNK_ROWS, runImportChunk, TOO_MANY_UNREADABLE } from '../engine/contacts/import-chunk.ts';
import { deriveKey } from '../rules/access/secrets.ts';
import type { CsvChunk } from '../rules/contacts/csv-rows.ts';
import type { JobInput, JobStatus } from '../rules/contacts/jobs.ts';
import { TimeLimitExceeded } from '../rules/time-limit.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * How long one activity works. A longer activity costs Temporal less for each chunk. A shorter activity loses less work
 * when the process stops.
 */
const ACTIVITY_MS = 5_000;

/**
 * How often the first waiting import of a project checks whether the running import has ended. Each further waiting
 * import checks `TURN_MS` later, up to `TURN_MAX_MS`.
 */
const NEXT_TURN_MS = 500;
const TURN_MS = 2_000;
const TURN_MAX_MS = 60_000;
/**
 * The longest time that an import waits for the project's computing budget. If the wait would be longer, the activity
 * ends and frees its slot.
 */
const WAIT_HERE_MS = 1_000;
const TOO_SLOW = 'The file takes too long to read: a quotation mark (") may be missing.';
/**
 * The job fails only after reading a chunk has exceeded its time limit this many times. The limit is elapsed time, so a
 * busy machine can exceed it by chance.
 */
const SLOW_ATTEMPTS = 3;

export interface JobProgress {
  done: boolean;
  /** The number of processed contacts or rows. */
  processed: number;
  /**
   * Milliseconds that the workflow waits before it calls the activity again. Absent if there is no wait, and in results
   * of earlier releases.
   */
  waitMs?: number;
}

export interface JobEnd extends JobInput {
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  failedReason?: string;
}

/** How a job ended. `reason` is the code of a failure, or null. */
export interface RecordedJobEnd {
  status: JobStatus;
  reason: string | null;
}

export type JobActivities = ReturnType<typeof createJobActivities>;

/**
 * The activities of jobs that process many contacts. These activities are safe to run twice, even at the same time:
 * each chunk locks its job, and its changes are committed together with the job's cursor.
 */
export function createJobActivities({ db, config, compute, outbox }: ActivityDeps) {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  async function runChunks(next: () => Promise<ChunkProgress>): Promise<JobProgress> {
    const until = Date.now() + ACTIVITY_MS;
    for (;;) {
      const chunk = await next();
      outbox.wake(chunk.outbox);
      if (chunk.done || chunk.moved || Date.now() > until) return { done: chunk.done, processed: chunk.processed };
      heartbeat(chunk.processed);
      cancellationSignal().throwIfAborted();
    }
  }

  return {
    /** Processes chunks of a bulk job for some seconds. */
    async runBulkJob({ projectId, jobId, kind }: JobInput): Promise<JobProgress> {
      if (!isBulkKind(kind)) throw ApplicationFailure.nonRetryable(`unknown kind of job: ${kind}`, 'UNKNOWN_JOB_KIND');
      return runChunks(() =>
        inTransaction(db, (trx) => runBulkChunk(trx, { projectId, id: jobId, kind, suppressionKey })),
      );
    },

    /**
     * Imports chunks of a file for some seconds, if no earlier import of the project is running. If the import has to
     * wait for another import, or for the project's computing budget, the activity ends and frees its slot.
     */
    async runImport({ projectId, jobId }: JobInput): Promise<JobProgress> {
      const ref = { projectId, id: jobId };
      const job = await findImport(db, ref);
      if (!job) {
        // The job does not exist, or an earlier attempt has finished it.
        await getJobStatus(db, ref);
        return { done: true, processed: 0 };
      }
      const { input, processed, ahead } = job;
      if (ahead > 0)
        return { done: false, processed, waitMs: Math.min(TURN_MAX_MS, NEXT_TURN_MS + (ahead - 1) * TURN_MS) };
      const work = { projectId, kind: 'contacts.import', bulk: true, maxWaitMs: WAIT_HERE_MS };
      // Puts the file into shared memory, from which the threads read. An ordinary buffer would be copied to the thread
      // for each chunk.
      const file = new Uint8Array(new SharedArrayBuffer(job.file.byteLength));
      file.set(job.file);
      const { layout, text } = input;
      const phoneCountry = await findPhoneCountry(db, projectId);
      const read = (from: number): Promise<CsvChunk> => {
        const at = Math.max(from, layout.firstRowAt);
        const reading = compute.runInThread(work, 'csv.chunk', {
          file,
          layout,
          text,
          at,
          limit: IMPORT_CHUNK_ROWS,
          phoneCountry,
        });
        // A chunk that was read in advance may not be used in the end. No code then handles a failure of the read, so
        // this line prevents an unhandled rejection.
        reading.catch(() => {});
        return reading;
      };
      let { cursor } = job;
      let next = read(cursor);
      try {
        return await runChunks(async () => {
          const chunk = await next;
          if (!chunk.done) next = read(chunk.nextAt);
          const done = await inTransaction(db, (trx) => runImportChunk(trx, { ...ref, cursor, chunk, suppressionKey }));
          cursor = chunk.nextAt;
          return done;
        });
      } catch (error) {
        if (error instanceof OverBudget) return { done: false, processed, waitMs: error.retryAfterMs };
        if (error instanceof TimeLimitExceeded)
          throw ApplicationFailure.create({
            message: TOO_SLOW,
            type: 'FILE_TOO_SLOW',
            nonRetryable: activityInfo().attempt >= SLOW_ATTEMPTS,
          });
        throw error;
      }
    },

    /**
     * Records how a job ended, unless an end is already recorded. Returns the recorded end, with the code of a failure.
     * @throws RowMissing
     */
    async endJob({ projectId, jobId, status, failedReason }: JobEnd): Promise<RecordedJobEnd> {
      const ref = { projectId, id: jobId };
      await finishJob(db, { ...ref, status, ...(failedReason !== undefined && { failedReason }) });
      const ended = await getJobStatus(db, ref);
      if (ended.status !== 'FAILED') return { status: ended.status, reason: null };
      return {
        status: ended.status,
        reason: ended.failedReason === TOO_MANY_UNREADABLE ? 'FILE_UNREADABLE' : 'JOB_FAILED',
      };
    },
  };
}
