import { sql, type Transaction } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Database } from './schema.ts';

/** What a project may have of each: lists of all of them, and what looks through all of them, stay small. */
const MOST = { segments: 500, templates: 1_000, workflows: 500 } as const;

/**
 * Makes sure that a project may have one more, until the transaction ends: whoever asks at the same time waits, so two never take the last
 * place.
 * @throws AppError CONFLICT when it has as many as it may
 */
export async function takeRoom(trx: Transaction<Database>, projectId: string, table: keyof typeof MOST): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`room:${table}:${projectId}`}, 0))`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM ${sql.table(table)} WHERE project_id = ${projectId}
  `.execute(trx);
  const count = rows[0]?.count ?? 0;
  if (count < MOST[table]) return;
  throw new AppError('CONFLICT', {
    message: `A project has at most ${MOST[table]} ${table}.`,
    details: { count, most: MOST[table] },
    suggestion: `Delete ${table} that are not used any more.`,
  });
}
