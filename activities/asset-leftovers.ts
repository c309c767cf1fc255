import { type AssetObject, deleteLeftover, listDueObjects } from '../db/assets/leftovers.ts';
import type { ActivityDeps } from './deps.ts';

/** The number of objects that are removed at the same time, well below the number of sockets for the bucket. */
const AT_A_TIME = 10;
/**
 * The maximum number of objects per round. At 50 ms each they take a minute. The next round, an hour later, removes
 * more.
 */
const MOST = 10_000;

/**
 * Removes objects from the bucket that belong to no image: objects of deleted images and of interrupted uploads. Safe
 * to run twice, also concurrently, because removing a missing object is not an error.
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
