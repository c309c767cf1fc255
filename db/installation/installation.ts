import { sql } from 'kysely';
import { type Installation, toShortId } from '../../rules/installation.ts';
import { connect, type Db } from '../connection.ts';

/** Reads the identity of the installation from a database, for a process that is starting. */
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

/**
 * Records that no Temporal workflow is open on the task queues of the earlier release. Does nothing before
 * `legacy_before`, because until then, processes of that release may still run and start workflows there.
 */
export async function markLegacyQueuesClosed(db: Db): Promise<void> {
  await db
    .updateTable('installation')
    .set({ legacy_closed_at: sql`now()` })
    .where('legacy_closed_at', 'is', null)
    .where('legacy_before', '<', sql<Date>`now()`)
    .execute();
}

/** Reads the identity of the installation from this database. A migration has inserted the row. */
export async function readInstallation(db: Db): Promise<Installation> {
  const row = await db
    .selectFrom('installation')
    .select(['id', 'legacy_before', 'legacy_closed_at'])
    .executeTakeFirstOrThrow();
  return {
    id: row.id,
    shortId: toShortId(row.id),
    legacyBefore: row.legacy_before,
    legacyClosedAt: row.legacy_closed_at,
  };
}
