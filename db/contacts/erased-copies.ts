/**
 * Erases copies of a contact's data in other tables: payloads of webhooks, stored responses, import errors and the
 * development mailboxes.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Reason } from '../../rules/emails/reasons.ts';
import { SMS_RECEIVED_EVENT } from '../../rules/events/event-names.ts';
import type { Trx } from '../connection.ts';

const CONTACT_DELETED: Reason = 'contact_deleted';
/** The minimum length of a value to search for. Shorter values, such as "de", are substrings of other words. */
const VALUE_MIN_CHARS = 3;

export interface ErasedPeople {
  projectId: string;
  contactIds: string[];
  /** The contacts' addresses, and their former addresses that no other contact has now. */
  emails: string[];
  /** The ids of the cc and bcc copies of the contacts' emails. */
  carbonCopies: string[];
  /** The contacts' phone numbers, and the numbers that got SMS for these contacts, in E.164. */
  phones: string[];
}

/**
 * Assigns records without a contact to the contact that will be erased (the first of `contactIds`): emails to the
 * person's addresses, SMS to the person's numbers, and events of SMS from these numbers. Such records were written
 * before the person was a contact, such as a test email. The erasure then includes them. Call this function before
 * `eraseCopies`.
 */
export async function assignEarlierRecords(
  trx: Trx,
  { projectId, contactIds, emails, phones }: Omit<ErasedPeople, 'carbonCopies'>,
) {
  const [contactId] = contactIds;
  await sql`
    UPDATE emails SET contact_id = ${contactId}
    WHERE project_id = ${projectId} AND contact_id IS NULL AND address_without_contact = ANY(${emails}::text[])`.execute(
    trx,
  );
  await sql`
    UPDATE sms_messages SET contact_id = ${contactId}
    WHERE project_id = ${projectId} AND contact_id IS NULL AND to_phone = ANY(${phones}::text[])`.execute(trx);
  await sql`
    UPDATE events SET contact_id = ${contactId}
    WHERE project_id = ${projectId} AND name = ${SMS_RECEIVED_EVENT} AND contact_id IS NULL
      AND data->>'from' = ANY(${phones}::text[])`.execute(trx);
}

/**
 * Erases the copies of the data of contacts that will be erased. Call this function before the contacts' events, emails
 * and SMS lose their contact. Safe to run twice.
 */
export async function eraseCopies(trx: Trx, p: ErasedPeople): Promise<void> {
  await eraseDeliveries(trx, p);
  await eraseResponses(trx, p);
  await eraseImportReports(trx, p);
  await eraseCaptured(trx, p);
}

/**
 * Empties the payloads of webhook deliveries, and ends deliveries that wait. A delivery with an empty payload is never
 * sent again. Finds the deliveries of an event by endpoint, because the unique index starts with the endpoint.
 */
async function eraseDeliveries(trx: Trx, { projectId, contactIds, carbonCopies }: ErasedPeople): Promise<void> {
  await sql`
    WITH erased AS MATERIALIZED (
      SELECT d.id FROM webhook_endpoints w CROSS JOIN events e
      JOIN webhook_deliveries d ON d.endpoint_id = w.id AND d.event_id = e.id
      WHERE w.project_id = ${projectId} AND e.project_id = ${projectId} AND (e.contact_id = ANY(${contactIds}::uuid[])
        OR (e.email_id = ANY(${carbonCopies}::uuid[])
          AND e.contact_id IN (SELECT contact_id FROM emails WHERE id = ANY(${carbonCopies}::uuid[]))))
      ORDER BY d.id FOR UPDATE OF d)
    UPDATE webhook_deliveries d SET payload = '{}', response_body = NULL,
      error = CASE WHEN status = 'PENDING' THEN ${CONTACT_DELETED} END,
      completed_at = coalesce(completed_at, now()), next_attempt_at = NULL,
      status = CASE WHEN status = 'PENDING' THEN 'FAILED' ELSE status END
    FROM erased WHERE d.id = erased.id
  `.execute(trx);
}

/**
 * Empties the stored responses of idempotency keys if they contain the person's id, address or number, whatever the
 * request was. Also replaces the key of such a response if the key contains a name or another value of the contact,
 * such as "welcome-ada-lovelace", and every key that contains the id, address or number. Other keys stay, so that a
 * repeated request is still refused.
 */
async function eraseResponses(trx: Trx, people: ErasedPeople): Promise<void> {
  const { projectId, contactIds, emails, phones } = people;
  const values = await listFoldedValues(trx, people);
  // JSON text has escaped quotes and backslashes, so the values are escaped in the same way.
  const marks = [...contactIds, ...emails, ...phones].map((mark) => JSON.stringify(mark).slice(1, -1).toLowerCase());
  const names = (text: RawBuilder<unknown>) => sql<boolean>`EXISTS (
    SELECT FROM unnest(${marks}::text[]) AS u (mark) WHERE strpos(lower(${text}), u.mark) > 0)`;
  await sql`
    UPDATE idempotency_keys SET response = 'null', key = CASE WHEN EXISTS (
        SELECT FROM unnest(${values}::text[]) AS v (value)
        WHERE strpos(lower(regexp_replace(key, '[^A-Za-z0-9]', '', 'g')), v.value) > 0)
      THEN 'erased-' || uuidv7() ELSE key END
    WHERE project_id = ${projectId} AND response <> 'null' AND ${names(sql`response::text`)}
  `.execute(trx);
  // Callers use addresses in keys, such as "welcome-ada@example.com".
  await sql`
    UPDATE idempotency_keys SET key = 'erased-' || uuidv7() WHERE project_id = ${projectId} AND ${names(sql`key`)}
  `.execute(trx);
}

/**
 * Lists the text values in the contacts' data, and the contacts' names in emails, in the form that `foldValue` returns.
 */
async function listFoldedValues(trx: Trx, { projectId, contactIds }: ErasedPeople): Promise<string[]> {
  const { rows } = await sql<{ value: string }>`
    SELECT v #>> '{}' AS value FROM contacts, jsonb_path_query(data, 'strict $.** ? (@.type() == "string")') AS v
    WHERE project_id = ${projectId} AND id = ANY(${contactIds}::uuid[])
    UNION SELECT to_name FROM emails
    WHERE project_id = ${projectId} AND contact_id = ANY(${contactIds}::uuid[]) AND to_name IS NOT NULL`.execute(trx);
  return rows.map(({ value }) => foldValue(value)).filter((value) => value.length >= VALUE_MIN_CHARS);
}

/** Reduces a text to the letters and digits that can be in a key: `Zoë Müller` becomes `zoemuller`. */
function foldValue(value: string): string {
  return value
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/**
 * Removes rows with these addresses from the errors and warnings stored for imports. A row with errors is stored as it
 * was written, so the address may be anywhere in the row, for example after a name.
 */
async function eraseImportReports(trx: Trx, { projectId, emails }: ErasedPeople): Promise<void> {
  const marks = emails.map((email) => JSON.stringify(email).slice(1, -1).toLowerCase());
  const namesThem = sql<boolean>`EXISTS (SELECT FROM unnest(${marks}::text[]) AS u (mark) WHERE strpos(lower(r.entry::text), u.mark) > 0)`;
  for (const list of ['errors', 'warnings'])
    await sql`
      UPDATE jobs SET result = jsonb_set(result, ARRAY[${list}], (
        SELECT coalesce(jsonb_agg(entry ORDER BY n), '[]') FROM jsonb_array_elements(result->${list}) WITH ORDINALITY AS r (entry, n)
        WHERE NOT ${namesThem}))
      WHERE project_id = ${projectId} AND kind = 'import' AND EXISTS (
        SELECT FROM jsonb_array_elements(result->${list}) AS r (entry) WHERE ${namesThem})
    `.execute(trx);
}

/** Deletes the contacts' emails with all their copies, and the contacts' SMS, from the development mailboxes. */
async function eraseCaptured(trx: Trx, { projectId, contactIds }: ErasedPeople): Promise<void> {
  await sql`
    DELETE FROM captured_emails WHERE id IN (
      SELECT id FROM emails WHERE project_id = ${projectId} AND contact_id = ANY(${contactIds}::uuid[]))`.execute(trx);
  // Each copy of an email shows all its recipients, so copies to other people are deleted too.
  await sql`
    DELETE FROM captured_emails WHERE id IN (
      SELECT s.id FROM emails e JOIN emails s ON s.content_id = e.content_id AND s.source_type = 'TRANSACTIONAL'
      WHERE e.project_id = ${projectId} AND e.contact_id = ANY(${contactIds}::uuid[]) AND s.project_id = e.project_id
        AND e.options->'copies'->>'to' = s.options->'copies'->>'to')`.execute(trx);
  await sql`
    DELETE FROM captured_sms WHERE id IN (
      SELECT id FROM sms_messages WHERE project_id = ${projectId} AND contact_id = ANY(${contactIds}::uuid[]))`.execute(
    trx,
  );
}
