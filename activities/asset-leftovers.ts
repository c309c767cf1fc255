import { type AssetObject, deleteLeftover, listDueObjects } from '../db/assets/leftovers.ts';
import type { ActivityDeps } from './deps.ts';

/** Objects removed at a time, well below the sockets that a bucket has. */
const AT_A_TIME = 10;
/** Objects of one round: at 50 ms each they take a minute, and the rest waits for the next hour. */
const MOST = 10_000;

/**
 * Removes from the bucket the objects that no image names: objects of deleted images and of uploads that were killed.
 * Safe to run twice, also concurrently, because removing an object that is gone is no error.
 * @throws Error when the bucket cannot be used; the objects stay listed for the next round
 */
export async function removeLeftovers({ db, bucket }: Pick<ActivityDeps, 'db' | 'bucket'>): Promise<void> {
  const remove = async (object: AssetObject): Promise<void> => {
    if (!bucket) throw new Error('ASSETS_S3_BUCKET is not set');
    await bucket.remove(object.objectKey);
    await deleteLeftover(db, object);
  };
  for (let removed = 0; removed < MOST; removed += AT_A_TIME) {
    const due = await listDueObjects(db, AT_A_TIME);
    const results = await Promise.allSettled(due.map(remove));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    if (due.length < AT_A_TIME) return;
  }
}
