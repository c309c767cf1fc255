import { type Kysely, sql } from 'kysely';
import { findFreeSlug, toSlug } from '../../rules/slug.ts';

/** Records per statement. */
const PAGE = 1_000;
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Adds the slugs that identify campaigns in files. The default is for an earlier release that still runs and does not
 * know slugs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaigns ADD COLUMN slug text NOT NULL DEFAULT uuidv7()::text`.execute(db);
  await nameAll(db);
  await sql`ALTER TABLE campaigns ADD CONSTRAINT campaigns_slug UNIQUE (project_id, slug)`.execute(db);
}

/** Assigns slugs in the order of creation, so that the oldest campaign with a name gets the slug without a number. */
async function nameAll(db: Kysely<unknown>): Promise<void> {
  let last = { project: NOBODY, id: NOBODY };
  let taken = new Set<string>();
  for (;;) {
    const { rows } = await sql<{ id: string; name: string; project: string }>`
      SELECT id, name, project_id AS project FROM campaigns
      WHERE (project_id, id) > (${last.project}::uuid, ${last.id}::uuid) ORDER BY project_id, id LIMIT ${PAGE}
    `.execute(db);
    const slugs = rows.map((row) => {
      if (row.project !== last.project) taken = new Set();
      last = row;
      const slug = findFreeSlug(toSlug(row.name), taken);
      taken.add(slug);
      return slug;
    });
    await sql`
      UPDATE campaigns c SET slug = n.slug
      FROM unnest(${rows.map((row) => row.id)}::uuid[], ${slugs}::text[]) n(id, slug) WHERE c.id = n.id
    `.execute(db);
    if (rows.length < PAGE) return;
  }
}
