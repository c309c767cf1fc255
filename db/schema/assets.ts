import type { Generated } from 'kysely';
import type { ImageType } from '../../rules/assets/image.ts';
import type { GeneratedTimestamp, Timestamp } from './columns.ts';

/** Images that emails show. */
export interface AssetsTables {
  assets: AssetsTable;
  asset_leftovers: AssetLeftoversTable;
}

export interface AssetsTable {
  id: Generated<string>;
  project_id: string;
  /** SHA-256 of the project's id and the bytes, in hex. The hash is part of the image's URL. */
  hash: string;
  filename: string | null;
  content_type: ImageType;
  bytes: number;
  width: number;
  height: number;
  /** The bytes of the image. Null if the bytes are in the bucket, under `object_key`. */
  content: Buffer | null;
  object_key: string | null;
  created_at: GeneratedTimestamp;
}

/** Objects in the bucket without a row in `assets`, because the row is not inserted yet, or was deleted. */
export interface AssetLeftoversTable {
  object_key: string;
  project_id: string;
  /** The time after which the object may be deleted. */
  due_at: Timestamp;
}
