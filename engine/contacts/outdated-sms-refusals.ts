import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import type { CsvContact } from '../../rules/contacts/csv-rows.ts';
import { SMS_RECEIVED_EVENT } from '../../rules/events/event-names.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { findConsentWord } from '../../rules/sms/consent-word.ts';

/**
 * The number of a contact's latest inbound SMS that are searched for a STOP or START. Events of earlier releases have
 * no `consent`, only the text of the SMS.
 */
const LATEST = 20;

/**
 * Finds the rows of an imported file whose SMS refusal is outdated: the contact already has the same values, and the
 * person's latest STOP or START is a START. A refusal can be outdated in a file that was exported before the START, or
 * that still has the column of an earlier import. Without this check, each import would repeat the stop that the person
 * has ended. Call this function before the rows are written.
 * @returns the addresses of these rows
 */
export async function findOutdatedSmsRefusals(
  trx: Trx,
  p: { projectId: string; rows: readonly CsvContact[] },
): Promise<Set<string>> {
  const refusing = p.rows.filter((row) => row.smsRefusals !== undefined);
  if (refusing.length === 0) return new Set();
  const { rows: contacts } = await sql<{ email: string; data: Data; texts: (string | null)[] }>`
    SELECT c.email, c.data, ARRAY(
      SELECT coalesce(e.data->>'consent', e.data->>'text') FROM events e
      WHERE e.project_id = c.project_id AND e.name = ${SMS_RECEIVED_EVENT} AND e.contact_id = c.id
      ORDER BY e.created_at DESC LIMIT ${LATEST}) AS texts
    FROM contacts c
    WHERE c.project_id = ${p.projectId} AND c.email = ANY(${refusing.map(({ email }) => email)}::text[]) AND c.sms_subscribed
  `.execute(trx);
  const started = new Map(
    contacts.filter(({ texts }) => findLastConsent(texts) === 'start').map((row) => [row.email, row.data]),
  );
  const isOutdated = ({ email, smsRefusals = [], set }: CsvContact) => {
    const stored = started.get(email);
    if (stored === undefined) return false;
    // A column for the consent to both email and SMS is not stored in the contact's data. A refusal in
    // a column for both therefore never counts as outdated.
    return smsRefusals.every((key) => Object.hasOwn(set, key) && isDeepStrictEqual(stored[key], set[key]));
  };
  return new Set(refusing.filter(isOutdated).map(({ email }) => email));
}

function findLastConsent(texts: readonly (string | null)[]): 'stop' | 'start' | undefined {
  for (const text of texts) {
    const word = findConsentWord(text ?? '');
    if (word !== undefined) return word;
  }
  return undefined;
}
