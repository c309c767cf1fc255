import { sql } from 'kysely';
import { isE164 } from '../../rules/sms/phone.ts';
import type { Db, Trx } from '../connection.ts';
import { findPhoneCountry } from '../projects/phone-country.ts';
import { inTransaction } from '../transaction.ts';
import { parseContactPhone, storePhones } from './contact-phones.ts';

/**
 * Contacts per statement. Parsing a number takes 0.1 to 0.3 ms, so the numbers of a page block the event loop for 20 to
 * 70 ms.
 */
const PAGE_CONTACTS = 200;
const FROM_START = '00000000-0000-0000-0000-000000000000';

/** A project whose contacts' numbers must be parsed again. */
export interface PhoneUpdate {
  projectId: string;
  /** When the country was changed, as Postgres formats it. Identifies the change. */
  changedAt: string;
  /** The contact up to which the numbers were parsed. */
  after: string;
}

/** Requests that the numbers of a project's contacts are parsed again. Call it when the project's country changes. */
export async function requestPhoneUpdate(trx: Trx, projectId: string): Promise<void> {
  await sql`
    INSERT INTO phone_updates (project_id) VALUES (${projectId})
    ON CONFLICT (project_id) DO UPDATE SET changed_at = excluded.changed_at, after = excluded.after
  `.execute(trx);
}

/** Tells whether the numbers of a project's contacts must be parsed again. */
export async function hasPhoneUpdate(db: Db, projectId: string): Promise<boolean> {
  const row = await db
    .selectFrom('phone_updates')
    .select('project_id')
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists the updates of projects whose country was changed at least `settledMs` ago, by the project's id. */
export async function listPhoneUpdates(db: Db, { settledMs }: { settledMs: number }): Promise<PhoneUpdate[]> {
  const { rows } = await sql<PhoneUpdate>`
    SELECT project_id AS "projectId", changed_at::text AS "changedAt", after FROM phone_updates
    WHERE changed_at <= now() - make_interval(secs => ${settledMs / 1_000}::float8) ORDER BY project_id
  `.execute(db);
  return rows;
}

/**
 * Stores the contact up to which the numbers were parsed. Ends the update if it is null. Changes nothing if the country
 * was changed again in the meantime.
 */
export async function savePhoneUpdate(
  db: Db,
  { projectId, changedAt, after }: Omit<PhoneUpdate, 'after'> & { after: string | null },
): Promise<void> {
  const update = sql`project_id = ${projectId} AND changed_at = ${changedAt}::timestamptz`;
  await (after === null
    ? sql`DELETE FROM phone_updates WHERE ${update}`
    : sql`UPDATE phone_updates SET after = ${after} WHERE ${update}`
  ).execute(db);
}

/**
 * Parses the phone numbers of a project's contacts again, with the project's current country, page by page for at most
 * `ms`. Locks and changes only contacts whose stored number differs, so repeating a page only reads. Safe to run twice,
 * also concurrently.
 * @param p.after the contact after which the first page starts; undefined for the first contact
 * @returns the contact at which to continue; null after the last contact
 */
export async function updatePhonesWithinMs(
  db: Db,
  key: Buffer,
  { projectId, after, ms }: { projectId: string; after?: string; ms: number },
): Promise<string | null> {
  const startedMs = performance.now();
  let last: string | null = after ?? FROM_START;
  do {
    last = await updatePage(db, key, { projectId, after: last });
  } while (last !== null && performance.now() - startedMs < ms);
  return last;
}

async function updatePage(db: Db, key: Buffer, p: { projectId: string; after: string }): Promise<string | null> {
  const { projectId, after } = p;
  const country = await findPhoneCountry(db, projectId);
  const { rows } = await sql<StoredPhone>`
    SELECT c.id, c.phone AS written, w.phone AS stored
    FROM (
      SELECT id, phone FROM contacts WHERE project_id = ${projectId} AND id > ${after}::uuid
      ORDER BY id LIMIT ${PAGE_CONTACTS}) AS c
    LEFT JOIN contact_phones w ON w.contact_id = c.id
    ORDER BY c.id
  `.execute(db);
  const ids = rows.filter((row) => isStale(row, country)).map(({ id }) => id);
  if (ids.length > 0) await inTransaction(db, (trx) => storePhonesAgain(trx, key, { projectId, ids }));
  return rows.length < PAGE_CONTACTS ? null : (rows.at(-1)?.id ?? null);
}

interface StoredPhone {
  id: string;
  /** The number in the contact's data. */
  written: string | null;
  /** The number in `contact_phones`. */
  stored: string | null;
}

function isStale({ written, stored }: StoredPhone, country: string | null): boolean {
  // Most contacts need no parsing: they have no number, or a number in E.164, which `contact_phones` does not store.
  if (written === null || isE164(written)) return stored !== null;
  return parseContactPhone(written, country).stored !== stored;
}

/** Stores the numbers of contacts again. Reads them under the lock, because they may have changed. */
async function storePhonesAgain(trx: Trx, key: Buffer, p: { projectId: string; ids: string[] }): Promise<void> {
  const { rows } = await sql<{ id: string; written: string | null }>`
    SELECT id, phone AS written FROM contacts WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
  await storePhones(trx, key, { projectId: p.projectId, contacts: rows });
}
