import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { deleteContacts } from '../../engine/contacts/delete-contacts.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { until } from './until.ts';

/**
 * Erases contacts in a transaction that commits only when `work` waits for one of its locks. `work` has then read the
 * contacts before the erasure, and writes after it.
 */
export async function runDuringErasure<T>(
  db: Db,
  p: { projectId: string; ids: string[] },
  work: () => Promise<T>,
): Promise<T> {
  const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
  const [result] = await db.transaction().execute(async (trx) => {
    await deleteContacts(trx, { ...p, suppressionKey });
    const running = Promise.allSettled([work()]);
    await until(async () => {
      const { rows } = await sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db);
      return rows.length > 0;
    }, 'a writer that waits for the erasure');
    return [running] as const;
  });
  const [settled] = await result;
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** Lists the rows of all tables that contain one of these texts, also as bytes, with the name of the table. */
export async function findRowsWith(db: Db, texts: string[]): Promise<{ table: string; row: unknown }[]> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`.execute(db);
  const patterns = texts.flatMap((text) => [`%${text}%`, `%${Buffer.from(text).toString('hex')}%`]);
  const found: { table: string; row: unknown }[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`
      SELECT t FROM ${sql.table(name)} t WHERE t::text ILIKE ANY(${patterns}::text[])`.execute(db);
    found.push(...rows.map((row) => ({ table: name, row })));
  }
  return found;
}
