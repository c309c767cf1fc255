import type { Trx } from '../connection.ts';
import { ownedBy } from '../owned-by.ts';
import { prepared } from '../prepared.ts';

/** Locks contacts in the order of their ids, which every transaction that locks several keeps to. */
export async function lockContacts(trx: Trx, projectId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await prepared`
    SELECT id FROM contacts WHERE id = ANY(${ids}::uuid[]) AND ${ownedBy('project_id', projectId)} ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
}
