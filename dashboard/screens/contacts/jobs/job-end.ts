import { call } from '../../../api/client.ts';

const ASK_MS = 500;
/** A job of a thousand contacts takes seconds; behind many others it may take longer, and is not waited for. */
const PATIENCE_MS = 60_000;

/**
 * Waits until a bulk job has ended, because its undo must come after it.
 * @throws ApiFailure if the job cannot be read
 */
export async function jobEnd(jobId: string): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const { state } = await call('getBulkJob', { params: { jobId } });
    if (state === 'completed' || state === 'failed') return;
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
}
