import { sql } from 'kysely';
import { readPhoneNumber, readWrittenNumber } from '../../rules/sms/phone.ts';
import type { Trx } from '../connection.ts';
import { findPhoneCountry } from '../projects/phone-country.ts';
import { applySmsStops } from './stops.ts';

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
  const read = contacts.map(({ id, written }) => {
    const text = String(written ?? '');
    return { id, text, phone: readWrittenNumber(text, country)?.e164 };
  });
  // If the number was written in E.164, Postgres derives the column `phone` from the data.
  const kept = read.flatMap(({ id, text, phone }) =>
    phone === undefined || readPhoneNumber(text) ? [] : [{ id, phone }],
  );
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
