import { continueAsNew } from '@temporalio/workflow';
import type { JobInput } from '../rules/contacts/jobs.ts';
import { jobActivities, runJob } from './job-run.ts';

/** Subscribes, unsubscribes or deletes the contacts of a bulk job. */
export async function bulkJob(input: JobInput): Promise<string> {
  return runJob(input, jobActivities.runBulkJob, (same) => continueAsNew<typeof bulkJob>(same));
}
