import { sql } from 'kysely';
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

/**
 * Records that no workflow is open on the task queues of the earlier release. Call it only when the processes of that
 * release must have ended, because they can start workflows until then.
 */
export async function closeLegacyQueues(db: Db): Promise<void> {
  await db
    .updateTable('installation')
    .set({ legacy_closed_at: sql`now()` })
    .where('legacy_closed_at', 'is', null)
    .where('legacy_before', '<', sql<Date>`now()`)
    .execute();
}

/** Reads which installation this database belongs to. The migration inserts the row. */
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
