import { callApi } from '../../../api/client.ts';

const POLL_MS = 500;
/** The maximum wait. A job with 1,000 contacts takes seconds, but may have to wait for other jobs. */
const WAIT_MAX_MS = 60_000;

/**
 * Waits until a bulk job has ended, because its undo must come after it. Returns after a minute even if the job has not
 * ended.
 * @throws ApiFailure if the job cannot be read
 */
export async function waitForJobEnd(jobId: string): Promise<void> {
  const until = Date.now() + WAIT_MAX_MS;
  while (Date.now() < until) {
    const { state } = await callApi('getBulkJob', { params: { jobId } });
    if (state === 'completed' || state === 'failed') return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
