import type { Trx } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { prepared } from '../prepared.ts';

/** Locks contacts in the order of their ids. Every transaction that locks several contacts must use this order. */
export async function lockContacts(trx: Trx, p: { projectId: string; ids: string[] }): Promise<void> {
  if (p.ids.length === 0) return;
  await prepared`
    SELECT id FROM contacts WHERE id = ANY(${p.ids}::uuid[]) AND ${isOwnedBySql('project_id', p.projectId)} ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
}
