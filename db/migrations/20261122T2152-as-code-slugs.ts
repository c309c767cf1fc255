import { type Kysely, type RawBuilder, sql } from 'kysely';
import { findFreeSlug, toSlug } from '../../rules/slug.ts';

/** Records per statement. */
const PAGE = 1_000;

/**
 * Adds the slugs that identify templates, workflows and steps in exported files, also in another project. The column
 * has a default because processes of an earlier release insert rows without a slug during the upgrade.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['templates', 'workflows', 'workflow_steps']) {
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN slug text NOT NULL DEFAULT uuidv7()::text`.execute(db);
  }
  await nameAll(db, 'templates', sql`project_id`);
  await nameAll(db, 'workflows', sql`project_id`);
  await nameAll(db, 'workflow_steps', sql`workflow_id`);
  await sql`ALTER TABLE templates ADD CONSTRAINT templates_slug UNIQUE (project_id, slug)`.execute(db);
  await sql`ALTER TABLE workflows ADD CONSTRAINT workflows_slug UNIQUE (project_id, slug)`.execute(db);
  await sql`ALTER TABLE workflow_steps ADD CONSTRAINT workflow_steps_slug UNIQUE (workflow_id, slug)`.execute(db);
}

/** Assigns slugs in the order of creation, so that the oldest record with a name gets the slug without a number. */
async function nameAll(db: Kysely<unknown>, table: string, within: RawBuilder<unknown>): Promise<void> {
  let last = { within: '00000000-0000-0000-0000-000000000000', id: '00000000-0000-0000-0000-000000000000' };
  let taken = new Set<string>();
  for (;;) {
    const { rows } = await sql<{ id: string; name: string; within: string }>`
      SELECT id, name, ${within} AS within FROM ${sql.table(table)}
      WHERE (${within}, id) > (${last.within}::uuid, ${last.id}::uuid) ORDER BY ${within}, id LIMIT ${PAGE}
    `.execute(db);
    const slugs = rows.map((row) => {
      if (row.within !== last.within) taken = new Set();
      last = row;
      const slug = findFreeSlug(toSlug(row.name), taken);
      taken.add(slug);
      return slug;
    });
    await sql`
      UPDATE ${sql.table(table)} t SET slug = n.slug
      FROM unnest(${rows.map((row) => row.id)}::uuid[], ${slugs}::text[]) n(id, slug) WHERE t.id = n.id
    `.execute(db);
    if (rows.length < PAGE) return;
  }
}
