import { sql } from 'kysely';

/**
 * The numbers of templates and campaigns that show an image. Each row of `templates`, `campaigns` and `contents` stores
 * the hashes of its images (`asset_hashes`).
 */
export interface ImageUses {
  templates: number;
  campaigns: number;
  /** True if an accepted email shows the image. */
  sent: boolean;
}

const showsImage = (alias: string) =>
  sql.raw(`${alias}.project_id = a.project_id AND ${alias}.asset_hashes @> ARRAY[a.hash]`);

/** The columns of `ImageUses` for the row `a` of `assets`. */
export const IMAGE_USES_COLUMNS = sql`
  (SELECT count(*) FROM templates t WHERE ${showsImage('t')}) AS templates,
  (SELECT count(*) FROM campaigns c WHERE ${showsImage('c')}) AS campaigns,
  EXISTS (SELECT FROM contents s WHERE ${showsImage('s')}) AS sent`;

/** True if a template, a campaign or an accepted email shows the row `a` of `assets`. */
export const IS_USED = sql`(
  EXISTS (SELECT FROM templates t WHERE ${showsImage('t')}) OR EXISTS (SELECT FROM campaigns c WHERE ${showsImage('c')})
  OR EXISTS (SELECT FROM contents s WHERE ${showsImage('s')}))`;
