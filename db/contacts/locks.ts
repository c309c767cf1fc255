import { AppError } from '../../rules/errors.ts';
import type { Trx } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { prepared } from '../prepared.ts';

/**
 * Locks contacts in the order of their ids. Every transaction that locks several contacts must use this order. A caller
 * that has read a contact before the lock must check that the result contains the contact: the contact may have been
 * erased in the meantime, and no later erasure removes what the caller then writes.
 * @returns the ids of the contacts that exist, in lower case; they exist until the transaction ends
 */
export async function lockContacts(trx: Trx, p: { projectId: string; ids: string[] }): Promise<Set<string>> {
  if (p.ids.length === 0) return new Set();
  const { rows } = await prepared<{ id: string }>`
    SELECT id FROM contacts WHERE id = ANY(${p.ids}::uuid[]) AND ${isOwnedBySql('project_id', p.projectId)} ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
  return new Set(rows.map((row) => row.id));
}

/**
 * Locks one contact that a request names.
 * @throws AppError NOT_FOUND when the project does not have the contact
 */
export async function lockOneContact(trx: Trx, p: { projectId: string; contactId: string }): Promise<void> {
  const locked = await lockContacts(trx, { projectId: p.projectId, ids: [p.contactId] });
  if (locked.size === 0) throw new AppError('NOT_FOUND', { message: 'No contact of this project has this id.' });
}
