import type { Generated } from 'kysely';
import type { PictureType } from '../../rules/content/picture.ts';
import type { GeneratedTimestamp } from './columns.ts';

/** Pictures of mails. */
export interface AssetsTables {
  assets: AssetsTable;
}

export interface AssetsTable {
  id: Generated<string>;
  project_id: string;
  /** Of the project and the bytes, in hex: the name in the picture's address. */
  hash: string;
  filename: string | null;
  content_type: PictureType;
  bytes: number;
  width: number;
  height: number;
  content: Buffer;
  created_at: GeneratedTimestamp;
}
