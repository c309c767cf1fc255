import { sql } from 'kysely';
import { isE164, readWrittenNumber } from '../../rules/sms/phone.ts';
import type { Trx } from '../connection.ts';
import { findPhoneCountry } from '../projects/phone-country.ts';
import { applySmsStops } from './stops.ts';

/** The key of `data` that has a contact's phone number. */
export const PHONE_KEY = 'phone';

/** The phone number of a contact, parsed from the text in its data. */
interface ContactPhone {
  /** The number in E.164. Undefined if the text cannot be parsed. */
  phone: string | undefined;
  /** The number for `contact_phones`. Null if the text is in E.164, because Postgres then derives `contacts.phone`. */
  stored: string | null;
}

/**
 * Parses a contact's phone number.
 * @param country the project's country; numbers without a calling code belong to it
 */
export function parseContactPhone(text: string, country: string | null): ContactPhone {
  const phone = readWrittenNumber(text, country)?.e164;
  return { phone, stored: phone === undefined || isE164(text) ? null : phone };
}

/**
 * Stores the normalized phone numbers of contacts whose numbers were not written in E.164. Removes the consent of
 * contacts whose number has an SMS stop. The caller has locked the contacts. Safe to run twice.
 */
export async function storePhones(
  trx: Trx,
  key: Buffer,
  p: { projectId: string; contacts: readonly { id: string; written: unknown }[] },
): Promise<void> {
  const { projectId, contacts } = p;
  if (contacts.length === 0) return;
  const country = await findPhoneCountry(trx, projectId);
  const read = contacts.map(({ id, written }) => ({ id, ...parseContactPhone(String(written ?? ''), country) }));
  const kept = read.flatMap(({ id, stored }) => (stored === null ? [] : [{ id, phone: stored }]));
  const keptIds = kept.map(({ id }) => id);
  await sql`
    DELETE FROM contact_phones
    WHERE contact_id = ANY(${read.map(({ id }) => id)}::uuid[]) AND contact_id <> ALL (${keptIds}::uuid[]) AND project_id = ${projectId}
  `.execute(trx);
  await sql`
    INSERT INTO contact_phones (contact_id, project_id, phone)
    SELECT u.id, ${projectId}, u.phone FROM unnest(${keptIds}::uuid[], ${kept.map(({ phone }) => phone)}::text[]) AS u (id, phone) ORDER BY u.id
    ON CONFLICT (contact_id) DO UPDATE SET phone = excluded.phone
  `.execute(trx);
  const numbers = read.flatMap(({ id, phone }) => (phone === undefined ? [] : [{ id, phone }]));
  await applySmsStops(trx, key, { projectId, contacts: numbers });
}

/**
 * Deletes the normalized numbers of contacts whose data no longer has a phone number. The caller has locked the
 * contacts. Safe to run twice.
 */
export async function deletePhones(trx: Trx, p: { projectId: string; contactIds: readonly string[] }): Promise<void> {
  await sql`
    DELETE FROM contact_phones WHERE contact_id = ANY(${[...p.contactIds]}::uuid[]) AND project_id = ${p.projectId}
  `.execute(trx);
}
