import { type AssetObject, forgetObject, listDueObjects } from '../db/assets/leftovers.ts';
import { describeFailure } from '../rules/failure-text.ts';
import type { ActivityDeps } from './deps.ts';

/** Objects removed at a time, well below the sockets that a bucket has. */
const AT_A_TIME = 10;
/** What is left waits for the next hour: at 50 ms each these take a minute. */
const MOST = 10_000;

/**
 * Removes from the bucket what no picture names: what was deleted, and what an upload left that was killed. May run
 * again, and twice at once: removing what is gone is no fault. A store that is away ends it until the next hour.
 */
export async function removeLeftovers({ db, bucket, log }: Pick<ActivityDeps, 'db' | 'bucket' | 'log'>): Promise<void> {
  const remove = async (object: AssetObject): Promise<void> => {
    if (!bucket) throw new Error('ASSETS_S3_BUCKET is not set');
    await bucket.remove(object.objectKey);
    await forgetObject(db, object);
  };
  for (let removed = 0; removed < MOST; removed += AT_A_TIME) {
    const due = await listDueObjects(db, AT_A_TIME);
    const results = await Promise.allSettled(due.map(remove));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) {
      const reason = describeFailure(failed.reason);
      return log.warn({ reason }, 'deleted pictures stay in the bucket until it can be used');
    }
    if (due.length < AT_A_TIME) return;
  }
}
