/** Adds and removes the stored members of STATIC segments, by address. Source: contract §5. */

import { type RawBuilder, sql } from 'kysely';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { AppError } from '../../rules/errors.ts';
import type { ReadVersion } from '../../rules/record-version.ts';
import type { Trx } from '../connection.ts';
import { upsertContacts } from '../contacts/upsert.ts';
import { lockSegment, type SegmentRef } from './segments.ts';

export interface AddMembers extends SegmentRef {
  emails: string[];
  /** Whether a contact is created for an address that no contact has. */
  createMissing: boolean;
  /** The subscription of created contacts. The subscription of existing contacts does not change. */
  subscribed: boolean;
  suppressionKey: Buffer;
  /** The actor who adds the contacts, for the segment's history. */
  actor: string;
  /** The version of the segment that the caller has read. */
  read?: ReadVersion | undefined;
}

export interface AddedMembers {
  /** Number of contacts that were not members before. */
  added: number;
  created: number;
  /** Addresses without a contact, in lower case. Empty with `createMissing`. */
  notFound: string[];
}

/**
 * Adds contacts to a STATIC segment. Contacts that are already members do not change.
 * @throws AppError NOT_FOUND; CONFLICT for a DYNAMIC segment, or for a segment that was changed after the version
 * `read`
 */
export async function addMembers(trx: Trx, p: AddMembers): Promise<AddedMembers> {
  await lockStaticSegment(trx, p);
  const emails = [...new Set(p.emails.map(normalizeEmail))];
  const missing = await findMissingEmails(trx, { projectId: p.projectId, emails });
  const created = p.createMissing ? await createContacts(trx, p, missing) : 0;
  const { rows } = await sql`
    WITH changed AS (
      INSERT INTO segment_members (segment_id, contact_id, project_id)
      SELECT ${p.id}, id, project_id FROM (
        SELECT id, project_id FROM contacts WHERE project_id = ${p.projectId} AND email = ANY(${emails}::text[])
        ORDER BY id FOR KEY SHARE) AS c
      ON CONFLICT DO NOTHING RETURNING contact_id)
    ${recordMembershipChanges(p, 'entry')}`.execute(trx);
  await updateMemberCount(trx, p);
  return { added: rows.length, created, notFound: p.createMissing ? [] : missing };
}

/**
 * Removes contacts from a STATIC segment, by address.
 * @returns the number of removed members
 * @throws AppError as `addMembers`
 */
export async function removeMembers(
  trx: Trx,
  p: SegmentRef & { emails: string[]; actor: string; read?: ReadVersion | undefined },
): Promise<{ removed: number }> {
  await lockStaticSegment(trx, p);
  const { rows } = await sql`
    WITH changed AS (
      DELETE FROM segment_members m USING contacts c
      WHERE m.segment_id = ${p.id} AND m.project_id = ${p.projectId} AND c.id = m.contact_id
        AND c.project_id = ${p.projectId} AND c.email = ANY(${p.emails.map(normalizeEmail)}::text[])
      RETURNING m.contact_id)
    ${recordMembershipChanges(p, 'exit')}`.execute(trx);
  await updateMemberCount(trx, p);
  return { removed: rows.length };
}

/** Records changes of members in the segment's history. The CTE `changed` has the contacts, one row each. */
function recordMembershipChanges(p: SegmentRef & { actor: string }, change: 'entry' | 'exit'): RawBuilder<unknown> {
  return sql`
    INSERT INTO segment_member_changes (project_id, segment_id, contact_id, change, actor)
    SELECT ${p.projectId}, ${p.id}, contact_id, ${change}, ${p.actor} FROM changed RETURNING 1`;
}

/**
 * Counts the stored members and stores the count.
 * @returns the count
 */
export async function updateMemberCount(trx: Trx, { projectId, id }: SegmentRef): Promise<number> {
  const { rows } = await sql<{ member_count: number }>`
    UPDATE segments SET counted_at = now(), member_count = (
      SELECT count(*) FROM segment_members WHERE segment_id = ${id} AND project_id = ${projectId})
    WHERE project_id = ${projectId} AND id = ${id} RETURNING member_count`.execute(trx);
  return rows[0]?.member_count ?? 0;
}

async function lockStaticSegment(
  trx: Trx,
  { read, ...ref }: SegmentRef & { read?: ReadVersion | undefined },
): Promise<void> {
  const { type } = await lockSegment(trx, ref, read);
  if (type === 'STATIC') return;
  throw new AppError('CONFLICT', {
    message: 'The filters of a DYNAMIC segment determine its members.',
    details: { type },
    suggestion: 'Change its filters with PATCH /v1/segments/{id}, or create a segment of type STATIC.',
  });
}

async function findMissingEmails(trx: Trx, p: { projectId: string; emails: string[] }): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    SELECT email FROM contacts WHERE project_id = ${p.projectId} AND email = ANY(${p.emails}::text[])`.execute(trx);
  const known = new Set(rows.map((row) => row.email));
  return p.emails.filter((email) => !known.has(email));
}

async function createContacts(trx: Trx, p: AddMembers, missing: string[]): Promise<number> {
  const contacts = await upsertContacts(trx, {
    projectId: p.projectId,
    rows: missing.map((email) => ({ email, set: {}, remove: [], by: 'project' })),
    defaultSubscribed: p.subscribed,
    suppressionKey: p.suppressionKey,
    causeId: null,
  });
  return contacts.filter((contact) => contact.isNew).length;
}
