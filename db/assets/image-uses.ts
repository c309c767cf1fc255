import { sql } from 'kysely';

/** The resources that show an image. Each stores the hashes of its images (`asset_hashes`). */
export interface ImageUses {
  templates: number;
  campaigns: number;
  /** True if an accepted email shows the image. */
  sent: boolean;
}

const names = (alias: string) =>
  sql.raw(`${alias}.project_id = a.project_id AND ${alias}.asset_hashes @> ARRAY[a.hash]`);

/** The columns of `ImageUses` for the row `a` of `assets`. */
export const selectImageUses = sql`
  (SELECT count(*) FROM templates t WHERE ${names('t')}) AS templates,
  (SELECT count(*) FROM campaigns c WHERE ${names('c')}) AS campaigns,
  EXISTS (SELECT FROM contents s WHERE ${names('s')}) AS sent`;

/** True if a resource shows the row `a` of `assets`. */
export const IS_USED = sql`(
  EXISTS (SELECT FROM templates t WHERE ${names('t')}) OR EXISTS (SELECT FROM campaigns c WHERE ${names('c')})
  OR EXISTS (SELECT FROM contents s WHERE ${names('s')}))`;
