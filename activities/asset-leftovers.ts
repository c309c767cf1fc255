import { type AssetObject, deleteLeftoverRow, listDueObjects } from '../db/assets/leftovers.ts';
import type { ActivityDeps } from './deps.ts';

/** The number of objects that are removed at the same time. The client of the bucket has many more sockets. */
const AT_A_TIME = 10;
/**
 * The maximum number of objects that one round removes. Removing 10,000 objects at 50 ms each, ten at a time, takes
 * about a minute. The next round, an hour later, removes more.
 */
const OBJECTS_MAX = 10_000;

/**
 * Removes objects that belong to no image from the bucket: objects of deleted images and of interrupted uploads. Two
 * runs, even at the same time, do no harm, because removing a missing object is not an error.
 * @throws Error when the bucket cannot be used; the next round finds the same objects again
 */
export async function removeLeftoverObjects({ db, bucket }: Pick<ActivityDeps, 'db' | 'bucket'>): Promise<void> {
  const remove = async (object: AssetObject): Promise<void> => {
    if (!bucket) throw new Error('ASSETS_S3_BUCKET is not set');
    await bucket.remove(object.objectKey);
    await deleteLeftoverRow(db, object);
  };
  for (let removed = 0; removed < OBJECTS_MAX; removed += AT_A_TIME) {
    const due = await listDueObjects(db, AT_A_TIME);
    const results = await Promise.allSettled(due.map(remove));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    if (due.length < AT_A_TIME) return;
  }
}
