import { continueAsNew } from '@temporalio/workflow';
import type { JobInput } from '../rules/contacts/jobs.ts';
import { jobActivities, runJob } from './job-run.ts';

/** Imports the contacts of a CSV file. */
export async function contactImport(input: JobInput): Promise<string> {
  return runJob(input, jobActivities.runImport, (same) => continueAsNew<typeof contactImport>(same));
}
