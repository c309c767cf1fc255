import { sql, type Transaction } from 'kysely';
import type { Database } from './schema.ts';

/** Locks contacts in the order of their ids, which every transaction that locks several keeps to. */
export async function lockContacts(trx: Transaction<Database>, projectId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    /* prepared */ SELECT id FROM contacts WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
}
