import { MigrationError } from '../db/migrator.ts';
import { StartError } from './start/error.ts';

/**
 * Returns an error with a one-line message about a problem with the database. The message names the address of the
 * database, but not its password.
 */
export function createDatabaseError(databaseUrl: string, cause: unknown): StartError {
  const { host } = new URL(databaseUrl);
  if (cause instanceof MigrationError) return new StartError(`The database at ${host}: ${cause.message}.`, { cause });
  return new StartError(
    `Postgres at ${host} cannot be used (${findInnermostReason(cause)}): check DATABASE_URL and that the server runs.`,
    {
      cause,
    },
  );
}

/**
 * Returns the first line of the innermost cause of an error, such as `connect ECONNREFUSED 127.0.0.1:5432` or `password
 * authentication failed …`.
 */
export function findInnermostReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return findInnermostReason(error.errors[0]);
  const details = error instanceof Error && 'details' in error && error.details ? String(error.details) : undefined;
  return (details ?? (error instanceof Error ? error.message : String(error))).split('\n')[0] ?? '';
}
