import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import { findFreeSlug, toSlug } from '../../rules/slug.ts';
import type { Db, Trx } from '../connection.ts';
import { readSqlState } from '../postgres-errors.ts';

/**
 * Tables whose records have a slug, and the column that limits its uniqueness: two records with the same value in this
 * column have different slugs.
 */
const WITHIN = {
  templates: 'project_id',
  campaigns: 'project_id',
  workflows: 'project_id',
  workflow_steps: 'workflow_id',
} as const;
type Slugged = keyof typeof WITHIN;

const UNIQUE_VIOLATION = '23505';

/**
 * Returns the slug of a new record: derived from its name, with a number if that slug is taken. The caller has taken
 * the lock for adding records of this kind. If the slug is taken after all, the unique index refuses the insert.
 */
export async function chooseFreeSlug(trx: Trx, p: { table: Slugged; within: string; name: string }): Promise<string> {
  const slug = toSlug(p.name);
  const { rows } = await sql<{ slug: string }>`
    SELECT slug FROM ${sql.table(p.table)} WHERE ${sql.ref(WITHIN[p.table])} = ${p.within}
  `.execute(trx);
  return findFreeSlug(slug, new Set(rows.map((row) => row.slug)));
}

/**
 * Runs a write that may set the slug of a record.
 * @param p.suggestion the remedy; by default, another slug or none
 * @throws AppError CONFLICT when another record of the same kind has the slug
 */
export async function refuseTakenSlug<T>(
  p: { kind: string; slug: string | undefined; suggestion?: string },
  write: () => Promise<T>,
) {
  try {
    return await write();
  } catch (error) {
    if (p.slug === undefined || readSqlState(error) !== UNIQUE_VIOLATION) throw error;
    const message = `Another ${p.kind} of this project has the slug ${p.slug}.`;
    throw new AppError('CONFLICT', {
      message,
      details: { slug: p.slug },
      suggestion: p.suggestion ?? 'Choose another slug, or omit it: the service then derives a free one from the name.',
    });
  }
}

/** Returns the ids of a project's records by slug. */
export async function mapIdsBySlug(
  db: Db,
  p: { projectId: string; table: 'templates' | 'workflows' | 'segments' | 'topics' },
): Promise<Map<string, string>> {
  const { rows } = await sql<{ slug: string; id: string }>`
    SELECT slug, id FROM ${sql.table(p.table)} WHERE project_id = ${p.projectId}
  `.execute(db);
  return new Map(rows.map(({ slug, id }) => [slug, id]));
}
