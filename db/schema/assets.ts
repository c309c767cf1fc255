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
  /** SHA-256 of the project and the bytes, in hex. It is the name in the image's address. */
  hash: string;
  filename: string | null;
  content_type: ImageType;
  bytes: number;
  width: number;
  height: number;
  /** Null if the bytes are an object of the bucket. */
  content: Buffer | null;
  object_key: string | null;
  created_at: GeneratedTimestamp;
}

/** Objects of the bucket that no row of `assets` names, or does not name yet. */
export interface AssetLeftoversTable {
  object_key: string;
  project_id: string;
  /** The object may be removed from this time on. */
  due_at: Timestamp;
}
