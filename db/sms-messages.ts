import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../domain/api-keys.ts';
import { AppError } from '../domain/errors.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import type { PhoneNumber } from '../domain/phone.ts';
import { smsSize } from '../domain/sms-encoding.ts';
import type { SmsStatus } from '../domain/sms-status.ts';
import type { Db, Trx } from './connection.ts';
import { afterCursor, type Page, type PageRequest, toPage } from './keyset.ts';
import { enqueue } from './outbox.ts';
import { getSmsSenderFor } from './sms-senders.ts';

export interface Sms {
  id: string;
  contactId: string | null;
  to: string;
  from: string;
  country: string;
  body: string;
  encoding: 'GSM7' | 'UCS2';
  segments: number;
  mode: KeyMode;
  status: SmsStatus;
  reason: string | null;
  error: string | null;
  providerMessageId: string | null;
  createdAt: Date;
  sentAt: Date | null;
  deliveredAt: Date | null;
}

const COLUMNS = sql.raw(`
  id, contact_id AS "contactId", to_phone AS "to", from_phone AS "from", country, body, encoding, segments, mode, status, reason,
  error, provider_message_id AS "providerMessageId", created_at AS "createdAt", sent_at AS "sentAt", delivered_at AS "deliveredAt"`);

/**
 * Accepts an SMS and queues its delivery, in the caller's transaction.
 * @throws AppError NO_SMS_SENDER; NOT_FOUND for a contact id of nobody in the project
 */
export async function insertSms(
  trx: Trx,
  p: { projectId: string; mode: KeyMode; to: PhoneNumber; body: string; contactId: string | undefined },
): Promise<{ sms: Sms; outbox: OutboxRow[] }> {
  const from = await getSmsSenderFor(trx, { projectId: p.projectId, country: p.to.country });
  const contactId = await resolveContact(trx, p);
  const { encoding, segments } = smsSize(p.body);
  const { rows } = await sql<Sms>`
    INSERT INTO sms_messages (project_id, contact_id, to_phone, from_phone, country, body, encoding, segments, mode)
    VALUES (${p.projectId}, ${contactId}, ${p.to.e164}, ${from}, ${p.to.country}, ${p.body}, ${encoding}, ${segments}, ${p.mode})
    RETURNING ${COLUMNS}
  `.execute(trx);
  const [sms] = rows;
  if (!sms) throw new Error('an insert returned nothing');
  return { sms, outbox: await enqueue(trx, [{ projectId: p.projectId, kind: 'sms.deliver', refId: sms.id }]) };
}

/** The contact named, else the first one whose `data.phone` is the number. */
async function resolveContact(
  trx: Trx,
  p: { projectId: string; to: PhoneNumber; contactId: string | undefined },
): Promise<string | null> {
  const who = p.contactId === undefined ? sql<SqlBool>`phone = ${p.to.e164}` : sql<SqlBool>`id = ${p.contactId}`;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM contacts WHERE project_id = ${p.projectId} AND ${who} ORDER BY id LIMIT 1 FOR KEY SHARE
  `.execute(trx);
  if (!rows[0] && p.contactId !== undefined) {
    throw new AppError('NOT_FOUND', { message: 'No contact of this project has this id.' });
  }
  return rows[0]?.id ?? null;
}

export interface SmsFilter {
  projectId: string;
  status?: SmsStatus | undefined;
  to?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** SMS newest first, by sms_messages_project. */
export async function listSms(db: Db, p: PageRequest & SmsFilter): Promise<Page<Sms>> {
  const { rows } = await sql<Sms>`
    SELECT ${COLUMNS} FROM sms_messages WHERE project_id = ${p.projectId} AND ${filterOf(p)} AND ${afterCursor(p.cursor)}
    ORDER BY id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  return toPage(rows, p.limit, (row) => row);
}

/** @throws AppError NOT_FOUND (another project's id too) */
export async function getSms(db: Db, p: { projectId: string; id: string }): Promise<Sms> {
  const { rows } = await sql<Sms>`
    SELECT ${COLUMNS} FROM sms_messages WHERE project_id = ${p.projectId} AND id = ${p.id}
  `.execute(db);
  const [sms] = rows;
  if (!sms) throw new AppError('NOT_FOUND', { message: 'No SMS of this project has this id.' });
  return sms;
}

function filterOf(p: SmsFilter): RawBuilder<SqlBool> {
  const parts = [
    p.status && sql<SqlBool>`status = ${p.status}`,
    p.to && sql<SqlBool>`to_phone = ${p.to}`,
    p.since && sql<SqlBool>`created_at >= ${p.since}`,
    p.until && sql<SqlBool>`created_at <= ${p.until}`,
  ].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? sql<SqlBool>`true` : sql.join(parts, sql` AND `);
}
