import { type Asset, findKnown, insertAsset, type NewAsset } from '../../../db/assets/assets.ts';
import { announceObject, claimObject } from '../../../db/assets/leftovers.ts';
import { readSlices, type StoredAsset } from '../../../db/assets/served-assets.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../rules/errors.ts';
import { describeFailure } from '../../../rules/failure-text.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import type { Deps } from '../../http/deps.ts';

/** Storage for the bytes of images. The metadata is a row of `assets` in either case. */
export interface AssetStore {
  /**
   * Stores an image. Storing the same bytes again returns the existing image, wherever it is stored.
   * @throws AppError CONFLICT if the project has too many images or too many bytes; SERVICE_UNAVAILABLE
   */
  keep(asset: NewAsset): Promise<{ asset: Asset; isNew: boolean }>;
  /**
   * Returns the bytes in chunks. Stops early if the image is deleted while it is read.
   * @throws AppError SERVICE_UNAVAILABLE
   */
  read(stored: StoredAsset): AsyncIterable<Uint8Array>;
}

type StoreDeps = Pick<Deps, 'config' | 'db' | 'reads' | 'bucket' | 'log'>;

/** Returns the store for new images. */
export function storeOfNew(deps: StoreDeps): AssetStore {
  return deps.bucket ? inBucket(deps) : inPostgres(deps);
}

/** Returns the store that holds an image. Images from before a bucket was configured stay in Postgres. */
export function storeOf(deps: StoreDeps, { objectKey }: StoredAsset): AssetStore {
  return objectKey === null ? inPostgres(deps) : inBucket(deps);
}

function inPostgres({ db, reads }: StoreDeps): AssetStore {
  return {
    keep: (asset) => inTransaction(db, (trx) => insertAsset(trx, asset)),
    read: (stored) => readSlices(reads, stored),
  };
}

/**
 * Stores images in a bucket. Each upload has its own object key, which is announced, uploaded, and then recorded in
 * the row. After a kill in between, pruning removes the leftover object, and no other image uses that object.
 */
function inBucket({ config, db, bucket, log }: StoreDeps): AssetStore {
  const prefix = config.assetsBucket?.prefix ?? '';
  const unavailable = (cause: unknown): AppError => {
    log.error({ reason: describeFailure(cause) }, 'the bucket for images failed');
    return new AppError('SERVICE_UNAVAILABLE', { message: 'The storage for images is unreachable.', cause });
  };
  const requireBucket = () => bucket ?? raise(unavailable('it contains images, and ASSETS_S3_BUCKET is not set'));

  return {
    async keep(asset) {
      const { projectId, image, content } = asset;
      const object = { projectId, objectKey: `${prefix}${projectId}/${uuidv7()}` };
      const known = await inTransaction(db, async (trx) => {
        const found = await findKnown(trx, asset);
        if (!found) await announceObject(trx, object);
        return found;
      });
      if (known) return { asset: known, isNew: false };
      await requireBucket()
        .put(object.objectKey, content, image.type)
        .catch((error) => raise(unavailable(error)));
      return inTransaction(db, async (trx) => {
        const kept = await insertAsset(trx, asset, object.objectKey);
        // Skipped if another upload was first; the object is then a leftover.
        if (kept.isNew) await claimObject(trx, object);
        return kept;
      });
    },
    async *read({ objectKey }) {
      try {
        yield* (await requireBucket().get(objectKey ?? '')) ?? [];
      } catch (error) {
        throw error instanceof AppError ? error : unavailable(error);
      }
    },
  };
}

function raise(error: Error): never {
  throw error;
}
