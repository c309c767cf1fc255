/**
 * The stop list: phone numbers that refuse SMS, by pairs of sender and recipient. A stop prevents all SMS from its
 * sender, and marketing from all senders of the project. A stop belongs to the number: it stays after the contact was
 * erased or got another number.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { computePhoneHash, type KeyPads } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';
import { keyedHashSql } from '../contacts/suppressions.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { RowOf } from '../schema/database.ts';

/**
 * The value of `sender` that means all senders of the project. Used for stops that the API adds without a sender, and
 * for stops from before pairs were stored.
 */
const EVERY_SENDER = '';
/**
 * The value of `sender` for a refusal in an imported file: the person refused a sender of another service. Such a
 * refusal prevents only marketing, like a stop to another sender. START to any sender of the project ends the refusal,
 * because the person cannot send START to the other service's sender.
 */
const IMPORTED_SENDER = 'import';

export interface SmsStop {
  id: string;
  /** Null after the contact was erased. */
  phone: string | null;
  /** Null means all senders; `import` is a refusal from an imported file. */
  from: string | null;
  /** How the stop was added: `twilio`, `api`, `dashboard`, `contact` or `import`. */
  source: string;
  actor: string | null;
  createdAt: Date;
}

export interface NewSmsStop {
  phone: string;
  from: string | null;
  source: string;
  actor: string | null;
  /** Set if the contact with this number was erased: only the hash of the number is stored. */
  isErased?: boolean;
}

const COLUMNS = ['id', 'phone', 'sender', 'source', 'actor', 'created_at'] as const;

/**
 * Adds stops, and removes the consent of contacts with these numbers. Existing stops do not change. Safe to run twice.
 */
export async function addSmsStops(
  trx: Trx,
  key: Buffer,
  p: { projectId: string; stops: readonly NewSmsStop[] },
): Promise<SmsStop[]> {
  const { projectId, stops } = p;
  if (stops.length === 0) return [];
  const { rows } = await sql<RowOf<'sms_stops', typeof COLUMNS>>`
    INSERT INTO sms_stops AS s (project_id, phone_hash, sender, phone, source, actor)
    SELECT ${projectId}, u.hash, u.sender, u.phone, u.source, u.actor
    FROM unnest(${stops.map(({ phone }) => computePhoneHash(key, phone))}::bytea[], ${stops.map(({ from }) => from ?? EVERY_SENDER)}::text[],
      ${stops.map(({ phone, isErased }) => (isErased ? null : phone))}::text[], ${stops.map(({ source }) => source)}::text[],
      ${stops.map(({ actor }) => actor)}::text[]) AS u (hash, sender, phone, source, actor)
    ORDER BY u.hash, u.sender
    ON CONFLICT (project_id, phone_hash, sender) DO UPDATE SET phone = coalesce(s.phone, excluded.phone)
    RETURNING ${sql.raw(COLUMNS.join(', '))}
  `.execute(trx);
  await setConsent(trx, { projectId, phones: stops.map(({ phone }) => phone), consents: false });
  return rows.map(toStop);
}

/**
 * Adds the stop of a person whose STOP only the provider has received: the provider refused an SMS for this reason.
 * Locks the SMS's contact and all contacts with the number in one order. If the SMS's contact was erased in the
 * meantime, the number is not stored.
 */
export async function addProviderStop(
  trx: Trx,
  key: Buffer,
  sms: { projectId: string; contactId: string | null; to: string; from: string },
): Promise<void> {
  const { projectId, contactId } = sms;
  const { rows: locked } = await sql<{ id: string }>`
    SELECT id FROM contacts
    WHERE (${hasPhoneSql(projectId, [sms.to])}) OR (project_id = ${projectId} AND id = ${contactId}::uuid)
    ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
  const isErased = contactId !== null && !locked.some(({ id }) => id === contactId);
  const stop = { phone: sms.to, from: sms.from, source: 'twilio', actor: null, isErased };
  await addSmsStops(trx, key, { projectId, stops: [stop] });
}

/**
 * Adds stops for contacts whose rows of an imported file refuse marketing SMS, and removes their consent even if they
 * have no number yet. Safe to run twice. The caller has locked the contacts.
 */
export async function addImportedStops(
  trx: Trx,
  key: Buffer,
  { projectId, contactIds, actor }: { projectId: string; contactIds: readonly string[]; actor: string },
): Promise<void> {
  if (contactIds.length === 0) return;
  const ids = [...contactIds];
  const { rows } = await sql<{ phone: string }>`
    SELECT phone FROM contacts WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]) AND phone IS NOT NULL
    UNION SELECT phone FROM contact_phones WHERE project_id = ${projectId} AND contact_id = ANY(${ids}::uuid[])
  `.execute(trx);
  const stops = rows.map(({ phone }) => ({ phone, from: IMPORTED_SENDER, source: 'import', actor }));
  await addSmsStops(trx, key, { projectId, stops });
  await sql`
    UPDATE contacts SET sms_subscribed = false, updated_at = now()
    WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]) AND sms_subscribed
  `.execute(trx);
}

/**
 * Deletes the stops of a number: all, or, if `from` is set, only the stops to this sender, the stops to all senders and
 * the imported stops. Returns the number of deleted stops. If no stop is left, contacts with the number consent to SMS
 * again. Safe to run twice.
 */
export async function liftSmsStops(
  trx: Trx,
  key: Buffer,
  p: { projectId: string; phone: string; from: string | null },
): Promise<number> {
  const hash = computePhoneHash(key, p.phone);
  const senders = p.from === null ? sql`true` : sql`sender IN (${p.from}, ${EVERY_SENDER}, ${IMPORTED_SENDER})`;
  const { numAffectedRows } = await sql`
    DELETE FROM sms_stops WHERE project_id = ${p.projectId} AND phone_hash = ${hash} AND ${senders}
  `.execute(trx);
  const { rows } = await sql`
    SELECT FROM sms_stops WHERE project_id = ${p.projectId} AND phone_hash = ${hash} LIMIT 1`.execute(trx);
  if (rows.length === 0) await setConsent(trx, { projectId: p.projectId, phones: [p.phone], consents: true });
  return Number(numAffectedRows ?? 0n);
}

/**
 * Lists stops newest first: all, or the stops of one number. `total` is counted only on the first page, and is 0 on
 * later pages.
 */
export async function listSmsStops(
  db: Db,
  p: PageRequest & { projectId: string; hash: Buffer | undefined },
): Promise<Page<SmsStop> & { total: number }> {
  const found = sql<SqlBool>`project_id = ${p.projectId} AND ${p.hash ? sql`phone_hash = ${p.hash}` : sql`true`}`;
  const rows = await db
    .selectFrom('sms_stops')
    .select(COLUMNS)
    .where(found)
    .where(afterCursorSql(p.cursor))
    .orderBy('id', 'desc')
    .limit(p.limit + 1)
    .execute();
  const counting = sql<{ total: number }>`SELECT count(*) AS total FROM sms_stops WHERE ${found}`;
  const total = p.cursor === undefined ? ((await counting.execute(db)).rows[0]?.total ?? 0) : 0;
  return { ...toPage(rows, p.limit, toStop), total };
}

/**
 * Throws if no stop was deleted.
 * @throws AppError NOT_FOUND
 */
export function assertStopLifted(lifted: number): void {
  if (lifted === 0) throw new AppError('NOT_FOUND', { message: 'This number is not on the stop list.' });
}

/**
 * Returns the SQL condition for a project's contacts with one of these numbers, whether the contact's number was
 * written in E.164 or normalized.
 */
export function hasPhoneSql(projectId: string, phones: readonly string[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`contacts.project_id = ${projectId} AND (contacts.phone = ANY(${[...phones]}::text[]) OR contacts.id IN (
    SELECT w.contact_id FROM contact_phones w WHERE w.project_id = ${projectId} AND w.phone = ANY(${[...phones]}::text[])))`;
}

async function setConsent(
  trx: Trx,
  p: { projectId: string; phones: readonly string[]; consents: boolean },
): Promise<void> {
  await sql`
    WITH changing AS MATERIALIZED (
      SELECT id FROM contacts WHERE ${hasPhoneSql(p.projectId, p.phones)} AND sms_subscribed <> ${p.consents}
      ORDER BY id FOR NO KEY UPDATE)
    UPDATE contacts SET sms_subscribed = ${p.consents}, updated_at = now() FROM changing WHERE contacts.id = changing.id
  `.execute(trx);
}

/**
 * SQL condition that a stop, or a contact's missing consent, prevents an SMS. A contact may have no consent although
 * its number has no stop: it got another number later, or its refusal is older than the stop list. A refusal without a
 * stop prevents all SMS to the contact.
 * @param p SQL expressions for the recipient, the sender, the contact, and whether the SMS is marketing
 */
export function isSmsStoppedSql(p: {
  pads: KeyPads;
  projectId: RawBuilder<unknown>;
  to: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  contactId: RawBuilder<unknown>;
  marketing: RawBuilder<unknown>;
}): RawBuilder<boolean> {
  const stops = sql`sms_stops t WHERE t.project_id = ${p.projectId} AND t.phone_hash = ${keyedHashSql(p.pads, p.to)}`;
  return sql<boolean>`(
    EXISTS (SELECT FROM ${stops} AND (${p.marketing} OR t.sender IN (${p.from}, ${EVERY_SENDER})))
    OR (${p.marketing} OR NOT EXISTS (SELECT FROM ${stops})) AND EXISTS (
      SELECT FROM contacts o WHERE o.project_id = ${p.projectId} AND NOT o.sms_subscribed
        AND (o.id = ${p.contactId} OR o.phone = ${p.to} OR o.id IN (
          SELECT w.contact_id FROM contact_phones w WHERE w.project_id = ${p.projectId} AND w.phone = ${p.to}))))`;
}

/**
 * Removes the consent of contacts whose number is on the stop list. Needed for contacts that were created, or got the
 * number, after the stop.
 */
export async function applySmsStops(
  trx: Trx,
  key: Buffer,
  p: { projectId: string; contacts: readonly { id: string; phone: string }[] },
): Promise<void> {
  if (p.contacts.length === 0) return;
  await sql`
    UPDATE contacts c SET sms_subscribed = false
    FROM unnest(${p.contacts.map(({ id }) => id)}::uuid[], ${p.contacts.map(({ phone }) => computePhoneHash(key, phone))}::bytea[]) AS u (id, hash)
    WHERE c.project_id = ${p.projectId} AND c.id = u.id AND c.sms_subscribed
      AND EXISTS (SELECT FROM sms_stops t WHERE t.project_id = ${p.projectId} AND t.phone_hash = u.hash)
  `.execute(trx);
}

/**
 * Keeps the refusals of contacts that will be erased, and removes the phone numbers from the stop list; the hashes
 * stay. Call this function before the contacts' SMS lose the number. Safe to run twice.
 * @returns the numbers of the contacts, and the numbers to which SMS for these contacts were sent
 */
export async function keepErasedStops(
  trx: Trx,
  key: Buffer,
  { projectId, contactIds }: { projectId: string; contactIds: readonly string[] },
): Promise<string[]> {
  const ids = [...contactIds];
  const { rows } = await sql<{ phone: string; stopped: boolean }>`
    SELECT phone, bool_or(stopped) AS stopped FROM (
      SELECT phone, NOT sms_subscribed AS stopped FROM contacts WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]) AND phone IS NOT NULL
      UNION ALL SELECT w.phone, NOT c.sms_subscribed FROM contact_phones w JOIN contacts c ON c.id = w.contact_id
        WHERE w.project_id = ${projectId} AND w.contact_id = ANY(${ids}::uuid[])
      UNION ALL SELECT to_phone, false FROM sms_messages WHERE project_id = ${projectId} AND contact_id = ANY(${ids}::uuid[]) AND to_phone <> ''
    ) AS numbers GROUP BY phone
  `.execute(trx);
  const stopped = rows.filter((row) => row.stopped).map(({ phone }) => phone);
  await sql`
    INSERT INTO sms_stops (project_id, phone_hash, sender, source, actor)
    SELECT ${projectId}, u.hash, ${EVERY_SENDER}, 'contact', NULL FROM unnest(${stopped.map((phone) => computePhoneHash(key, phone))}::bytea[]) AS u (hash)
    WHERE NOT EXISTS (SELECT FROM sms_stops t WHERE t.project_id = ${projectId} AND t.phone_hash = u.hash)
    ORDER BY u.hash ON CONFLICT DO NOTHING
  `.execute(trx);
  await sql`
    UPDATE sms_stops SET phone = NULL
    WHERE project_id = ${projectId} AND phone_hash = ANY(${rows.map(({ phone }) => computePhoneHash(key, phone))}::bytea[])
  `.execute(trx);
  return rows.map(({ phone }) => phone);
}

/** The numbers of contacts per transaction, and of transactions per call, when the stop list is filled. */
const BACKFILL = { rows: 5_000, rounds: 200 };

/**
 * Fills the stop list once from the consent that an earlier release stored with contacts, in the order of the contacts'
 * ids. A killed process loses nothing: each transaction stores its position together with its rows. May run at any
 * time, also concurrently.
 */
export async function backfillSmsStops(db: Db, pads: KeyPads): Promise<void> {
  for (let round = 0; round < BACKFILL.rounds; round += 1) if (await fillPage(db, pads)) return;
}

async function fillPage(db: Db, pads: KeyPads): Promise<boolean> {
  const { rows } = await sql<{ isDone: boolean }>`
    WITH at AS MATERIALIZED (SELECT after FROM sms_stop_backfill FOR UPDATE),
    page AS MATERIALIZED (
      SELECT c.id, c.project_id, c.phone, c.sms_subscribed FROM contacts c, at WHERE c.id > at.after ORDER BY c.id LIMIT ${BACKFILL.rows}),
    filled AS (
      INSERT INTO sms_stops (project_id, phone_hash, sender, phone, source)
      SELECT DISTINCT ON (p.project_id, p.phone) p.project_id, ${keyedHashSql(pads, sql`p.phone`)}, ${EVERY_SENDER}, p.phone, 'contact'
      FROM page p WHERE NOT p.sms_subscribed AND p.phone IS NOT NULL ORDER BY p.project_id, p.phone
      ON CONFLICT DO NOTHING),
    moved AS (UPDATE sms_stop_backfill SET after = (SELECT id FROM page ORDER BY id DESC LIMIT 1) WHERE EXISTS (SELECT FROM page)),
    done AS (DELETE FROM sms_stop_backfill WHERE NOT EXISTS (SELECT FROM page))
    SELECT NOT EXISTS (SELECT FROM page) AS "isDone"
  `.execute(db);
  return rows[0]?.isDone ?? true;
}

function toStop(row: RowOf<'sms_stops', typeof COLUMNS>): SmsStop {
  return {
    id: row.id,
    phone: row.phone,
    from: row.sender === EVERY_SENDER ? null : row.sender,
    source: row.source,
    actor: row.actor,
    createdAt: row.created_at,
  };
}
