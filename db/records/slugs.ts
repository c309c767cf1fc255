import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import { freeSlug, slugOf } from '../../rules/slug.ts';
import type { Db, Trx } from '../connection.ts';
import { sqlStateOf } from '../postgres-errors.ts';

/** Tables whose records have a slug in files, and the column within whose value the slug is unique. */
const WITHIN = {
  templates: 'project_id',
  campaigns: 'project_id',
  workflows: 'project_id',
  workflow_steps: 'workflow_id',
} as const;
type Slugged = keyof typeof WITHIN;

const UNIQUE_VIOLATION = '23505';

/**
 * Returns the slug of a new record: derived from its name, with a number if that slug is taken. The caller holds the
 * lock under which records of this kind are added one at a time. The unique index decides in the end.
 */
export async function newSlug(trx: Trx, p: { table: Slugged; within: string; name: string }): Promise<string> {
  const slug = slugOf(p.name);
  const { rows } = await sql<{ slug: string }>`
    SELECT slug FROM ${sql.table(p.table)} WHERE ${sql.ref(WITHIN[p.table])} = ${p.within}
  `.execute(trx);
  return freeSlug(slug, new Set(rows.map((row) => row.slug)));
}

/**
 * Runs a write that may give a record a slug.
 * @throws AppError CONFLICT when another record of its kind has the slug
 */
export async function refusingTakenSlug<T>(p: { what: string; slug: string | undefined }, write: () => Promise<T>) {
  try {
    return await write();
  } catch (error) {
    if (p.slug === undefined || sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
    const message = `Another ${p.what} of this project has the slug ${p.slug}.`;
    throw new AppError('CONFLICT', {
      message,
      details: { slug: p.slug },
      suggestion: 'Choose another slug, or omit it: the service then derives a free one from the name.',
    });
  }
}

/** Returns the ids of a project's records by slug. */
export async function idsBySlug(
  db: Db,
  p: { projectId: string; table: 'templates' | 'workflows' | 'segments' | 'topics' },
): Promise<Map<string, string>> {
  const { rows } = await sql<{ slug: string; id: string }>`
    SELECT slug, id FROM ${sql.table(p.table)} WHERE project_id = ${p.projectId}
  `.execute(db);
  return new Map(rows.map(({ slug, id }) => [slug, id]));
}
