import { type Asset, findKnownAsset, insertAsset, type NewAsset } from '../../../db/assets/assets.ts';
import { announceObject, deleteObjectAnnouncement } from '../../../db/assets/leftovers.ts';
import { readAssetSlices, type StoredAsset } from '../../../db/assets/served-assets.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../rules/errors.ts';
import { describeFailure } from '../../../rules/failure-text.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import type { Deps } from '../../http/deps.ts';

/** Storage for the bytes of images: Postgres or a bucket. Each image also has a row of `assets` with its metadata. */
export interface AssetStore {
  /**
   * Stores an image. Storing the same bytes again returns the existing image, wherever it is stored.
   * @throws AppError CONFLICT if the project has too many images or too many bytes; SERVICE_UNAVAILABLE
   */
  save(asset: NewAsset): Promise<{ asset: Asset; isNew: boolean }>;
  /**
   * Returns the bytes in chunks. Stops early if the image is deleted while it is read.
   * @throws AppError SERVICE_UNAVAILABLE
   */
  read(stored: StoredAsset): AsyncIterable<Uint8Array>;
}

type StoreDeps = Pick<Deps, 'config' | 'db' | 'reads' | 'bucket' | 'log'>;

/** Returns the store for new images. */
export function chooseStoreForNewImages(deps: StoreDeps): AssetStore {
  return deps.bucket ? createBucketStore(deps) : createPostgresStore(deps);
}

/** Returns the store that holds an image. Images from before a bucket was configured stay in Postgres. */
export function chooseStoreOfImage(deps: StoreDeps, { objectKey }: StoredAsset): AssetStore {
  return objectKey === null ? createPostgresStore(deps) : createBucketStore(deps);
}

function createPostgresStore({ db, reads }: StoreDeps): AssetStore {
  return {
    save: (asset) => inTransaction(db, (trx) => insertAsset(trx, asset)),
    read: (stored) => readAssetSlices(reads, stored),
  };
}

/**
 * Creates the store in a bucket. Each upload of a new image gets a new object key. The key is first written to
 * `asset_leftovers`, then the object is uploaded, and then the row of `assets` names the object. If the process is
 * killed in between, pruning deletes the object, which no image uses.
 */
function createBucketStore({ config, db, bucket, log }: StoreDeps): AssetStore {
  const prefix = config.assetsBucket?.prefix ?? '';
  const createUnavailableError = (cause: unknown): AppError => {
    log.error({ reason: describeFailure(cause) }, 'the bucket for images failed');
    return new AppError('SERVICE_UNAVAILABLE', { message: 'The storage for images is unreachable.', cause });
  };
  const requireBucket = () =>
    bucket ?? throwError(createUnavailableError('it contains images, and ASSETS_S3_BUCKET is not set'));

  return {
    async save(asset) {
      const { projectId, image, content } = asset;
      const object = { projectId, objectKey: `${prefix}${projectId}/${uuidv7()}` };
      const existing = await inTransaction(db, async (trx) => {
        const found = await findKnownAsset(trx, asset);
        if (!found) await announceObject(trx, object);
        return found;
      });
      if (existing) return { asset: existing, isNew: false };
      await requireBucket()
        .put(object.objectKey, content, image.type)
        .catch((error) => throwError(createUnavailableError(error)));
      return inTransaction(db, async (trx) => {
        const result = await insertAsset(trx, asset, object.objectKey);
        // If another upload of the same image was faster, its object is used, and this object stays in
        // `asset_leftovers`.
        if (result.isNew) await deleteObjectAnnouncement(trx, object);
        return result;
      });
    },
    async *read({ objectKey }) {
      try {
        yield* (await requireBucket().get(objectKey ?? '')) ?? [];
      } catch (error) {
        throw error instanceof AppError ? error : createUnavailableError(error);
      }
    },
  };
}

function throwError(error: Error): never {
  throw error;
}
