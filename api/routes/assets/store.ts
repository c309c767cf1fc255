import { type Asset, findKnown, insertAsset, type NewAsset } from '../../../db/assets/assets.ts';
import { announceObject, claimObject } from '../../../db/assets/leftovers.ts';
import { readSlices, type StoredAsset } from '../../../db/assets/served-assets.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../rules/errors.ts';
import { describeFailure } from '../../../rules/failure-text.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import type { Deps } from '../../http/deps.ts';

/** Storage of the bytes of images. The facts about an image are a row of `assets` in either case. */
export interface AssetStore {
  /**
   * Stores an image. Storing the same bytes again returns the existing image, wherever it is stored.
   * @throws AppError CONFLICT when the project's images would be too large together, or too many; SERVICE_UNAVAILABLE
   */
  keep(asset: NewAsset): Promise<{ asset: Asset; isNew: boolean }>;
  /**
   * Its bytes in pieces; fewer than the row says where it was deleted meanwhile. @throws AppError SERVICE_UNAVAILABLE
   */
  read(stored: StoredAsset): AsyncIterable<Uint8Array>;
}

type StoreDeps = Pick<Deps, 'config' | 'db' | 'reads' | 'bucket' | 'log'>;

/** The store of what is uploaded now. */
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
 * Each upload has a key of its own, which is announced, put and then named by the row: a kill in between leaves what
 * pruning removes, and removing one takes away no other.
 */
function inBucket({ config, db, bucket, log }: StoreDeps): AssetStore {
  const prefix = config.assetsBucket?.prefix ?? '';
  const unavailable = (cause: unknown): AppError => {
    log.error({ reason: describeFailure(cause) }, 'the bucket for images cannot be used');
    return new AppError('SERVICE_UNAVAILABLE', { message: 'The storage for images cannot be reached.', cause });
  };
  const opened = () => bucket ?? raise(unavailable('it has pictures, and ASSETS_S3_BUCKET is not set'));

  return {
    async keep(asset) {
      const { projectId, picture, content } = asset;
      const object = { projectId, objectKey: `${prefix}${projectId}/${uuidv7()}` };
      const known = await inTransaction(db, async (trx) => {
        const found = await findKnown(trx, asset);
        if (!found) await announceObject(trx, object);
        return found;
      });
      if (known) return { asset: known, isNew: false };
      await opened()
        .put(object.objectKey, content, picture.type)
        .catch((error) => raise(unavailable(error)));
      return inTransaction(db, async (trx) => {
        const kept = await insertAsset(trx, asset, object.objectKey);
        // If another upload was first, the object stays a leftover.
        if (kept.isNew) await claimObject(trx, object);
        return kept;
      });
    },
    async *read({ objectKey }) {
      try {
        yield* (await opened().get(objectKey ?? '')) ?? [];
      } catch (error) {
        throw error instanceof AppError ? error : unavailable(error);
      }
    },
  };
}

function raise(error: Error): never {
  throw error;
}
