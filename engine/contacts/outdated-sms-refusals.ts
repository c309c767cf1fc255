import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import type { CsvContact } from '../../rules/contacts/csv-rows.ts';
import { SMS_RECEIVED_EVENT } from '../../rules/events/event-names.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { consentWord } from '../../rules/sms/consent-word.ts';

/** The number of a contact's latest SMS in which a START is looked for. Older events have no `consent`, only a text. */
const LATEST = 20;

/**
 * Finds the rows of an imported file whose refusal of SMS is outdated: the contact's data has the same values already,
 * and the latest STOP or START of the person is a START. An export from before, or one that still has the imported
 * column, is such a file. Without this, each import would repeat the stop that the person lifted. Call it before the
 * rows are written.
 * @returns the addresses of these rows
 */
export async function findOutdatedSmsRefusals(
  trx: Trx,
  p: { projectId: string; rows: readonly CsvContact[] },
): Promise<Set<string>> {
  const refusing = p.rows.filter((row) => row.smsRefusals !== undefined);
  if (refusing.length === 0) return new Set();
  const { rows: known } = await sql<{ email: string; data: Data; texts: (string | null)[] }>`
    SELECT c.email, c.data, ARRAY(
      SELECT coalesce(e.data->>'consent', e.data->>'text') FROM events e
      WHERE e.project_id = c.project_id AND e.name = ${SMS_RECEIVED_EVENT} AND e.contact_id = c.id
      ORDER BY e.created_at DESC LIMIT ${LATEST}) AS texts
    FROM contacts c
    WHERE c.project_id = ${p.projectId} AND c.email = ANY(${refusing.map(({ email }) => email)}::text[]) AND c.sms_subscribed
  `.execute(trx);
  const started = new Map(known.filter(({ texts }) => lastWord(texts) === 'start').map((row) => [row.email, row.data]));
  const isOutdated = ({ email, smsRefusals = [], set }: CsvContact) => {
    const stored = started.get(email);
    if (stored === undefined) return false;
    // A column about email and SMS is consent and no data, so its refusal is never known already.
    return smsRefusals.every((key) => Object.hasOwn(set, key) && isDeepStrictEqual(stored[key], set[key]));
  };
  return new Set(refusing.filter(isOutdated).map(({ email }) => email));
}

function lastWord(texts: readonly (string | null)[]): 'stop' | 'start' | undefined {
  for (const text of texts) {
    const word = consentWord(text ?? '');
    if (word !== undefined) return word;
  }
  return undefined;
}
