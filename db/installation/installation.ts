import { type Installation, shortIdOf } from '../../rules/installation.ts';
import { connect, type Db } from '../connection.ts';

/** Reads which installation a database belongs to, for a process that is starting. */
export async function findInstallation(databaseUrl: string): Promise<Installation> {
  const { db } = connect({
    connectionString: databaseUrl,
    max: 1,
    applicationName: 'tidings-start',
    onError: () => {},
  });
  try {
    return await readInstallation(db);
  } finally {
    await db.destroy();
  }
}

/** Reads which installation this database belongs to. The row is there from the migration on. */
export async function readInstallation(db: Db): Promise<Installation> {
  const row = await db
    .selectFrom('installation')
    .select(['id', 'legacy_before', 'legacy_closed_at'])
    .executeTakeFirstOrThrow();
  return {
    id: row.id,
    shortId: shortIdOf(row.id),
    legacyBefore: row.legacy_before,
    legacyClosedAt: row.legacy_closed_at,
  };
}
