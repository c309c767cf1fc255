import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { PhoneNumber } from '../../rules/sms/phone.ts';
import { measureSms, type SmsEncoding } from '../../rules/sms/sms-size.ts';
import type { SmsSourceType } from '../../rules/sms/source.ts';
import type { SmsStatus } from '../../rules/sms/status.ts';
import type { Db, Trx } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { enqueue } from '../outbox/outbox.ts';
import type { RowOf } from '../schema/database.ts';
import { getSmsSenderFor, listSmsSenders, smsSenderSql } from './senders.ts';
import { hasPhoneSql, isSmsStoppedSql } from './stops.ts';

export interface Sms {
  id: string;
  contactId: string | null;
  /** The execution whose step sent the SMS; null for other SMS. */
  executionId: string | null;
  to: string;
  from: string;
  country: string;
  body: string;
  encoding: SmsEncoding;
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

const COLUMNS = [
  'id',
  'contact_id',
  'execution_id',
  'to_phone',
  'from_phone',
  'country',
  'body',
  'encoding',
  'segments',
  'mode',
  'status',
  'reason',
  'error',
  'provider_message_id',
  'created_at',
  'sent_at',
  'delivered_at',
] as const;

/**
 * Accepts an SMS and queues its delivery, in the caller's transaction.
 * @param p.from a sender of the project; defaults to the sender for the destination's country
 * @throws AppError NO_SMS_SENDER; NOT_FOUND for an id that is not a contact of the project
 */
export async function insertSms(
  trx: Trx,
  p: {
    projectId: string;
    mode: KeyMode;
    to: PhoneNumber;
    body: string;
    contactId: string | undefined;
    from?: string | undefined;
    /** The execution whose step sends the SMS. */
    executionId?: string | undefined;
    /** Whether the SMS is marketing: a STOP to any sender of the project prevents it. */
    marketing: boolean;
    /** True for an SMS of a sandbox execution. The activity list and the contact's timeline omit such SMS. */
    sandbox?: boolean;
  },
): Promise<{ sms: Sms; outbox: OutboxRow[] }> {
  const from = await getSender(trx, p);
  const contactId = await resolveContact(trx, p);
  const { encoding, segments } = measureSms(p.body);
  const row = await trx
    .insertInto('sms_messages')
    .values({
      project_id: p.projectId,
      contact_id: contactId,
      execution_id: p.executionId ?? null,
      to_phone: p.to.e164,
      from_phone: from,
      country: p.to.country,
      body: p.body,
      encoding,
      segments,
      mode: p.mode,
      sandbox: p.sandbox ?? false,
      marketing: p.marketing,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  const sms = toSms(row);
  return { sms, outbox: await enqueue(trx, [{ projectId: p.projectId, kind: 'sms.deliver', refId: sms.id }]) };
}

/**
 * Returns the sender for an SMS.
 * @throws AppError NO_SMS_SENDER
 */
async function getSender(
  trx: Trx,
  p: { projectId: string; to: PhoneNumber; from?: string | undefined },
): Promise<string> {
  const { projectId, to, from } = p;
  if (from === undefined) return getSmsSenderFor(trx, { projectId, country: to.country });
  const senders = await listSmsSenders(trx, projectId);
  if (senders.some((sender) => sender.from === from)) return from;
  throw new AppError('NO_SMS_SENDER', { message: `${from} is not an SMS sender of this project.`, details: { from } });
}

/**
 * Tells whether an SMS may be sent to a number: no stop and no refusal of a contact prevents it (`isSmsStoppedSql`).
 * @param p.from the sender in the step; defaults to the sender for the destination's country
 */
export async function canSendSms(
  db: Db,
  p: {
    pads: KeyPads;
    projectId: string;
    contactId: string;
    to: PhoneNumber;
    from: string | undefined;
    marketing: boolean;
  },
): Promise<boolean> {
  const { projectId, contactId, to } = p;
  const from = p.from === undefined ? sql`(${smsSenderSql(projectId, to.country)})` : sql`${p.from}`;
  const stopped = isSmsStoppedSql({
    pads: p.pads,
    projectId: sql`${projectId}::uuid`,
    to: sql`${to.e164}::text`,
    from: sql`${from}::text`,
    contactId: sql`${contactId}::uuid`,
    marketing: sql`${p.marketing}::boolean`,
  });
  const { rows } = await sql<{ consents: boolean }>`SELECT NOT ${stopped} AS consents`.execute(db);
  return rows[0]?.consents ?? false;
}

/**
 * Returns the contact with the given id, or the first contact with this number if no id is given. Null if no contact
 * has the number.
 * @throws AppError NOT_FOUND for an id that is not a contact of the project
 */
async function resolveContact(
  trx: Trx,
  p: { projectId: string; to: PhoneNumber; contactId: string | undefined },
): Promise<string | null> {
  const who = p.contactId === undefined ? hasPhoneSql(p.projectId, [p.to.e164]) : sql<SqlBool>`id = ${p.contactId}`;
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
  sourceType?: SmsSourceType | undefined;
  contactId?: string | undefined;
  workflowExecutionId?: string | undefined;
  to?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/**
 * Lists SMS newest first. Uses the index `sms_messages_project`, or `sms_messages_contact` or `sms_messages_execution`
 * if the filter has a contact or an execution.
 */
export async function listSms(db: Db, p: PageRequest & SmsFilter): Promise<Page<Sms>> {
  const rows = await db
    .selectFrom('sms_messages')
    .select(COLUMNS)
    .where('project_id', '=', p.projectId)
    .where(toFilterPredicate(p))
    .where(afterCursorSql(p.cursor))
    .orderBy('id', 'desc')
    .limit(p.limit + 1)
    .execute();
  return toPage(rows, p.limit, toSms);
}

/**
 * Returns one SMS.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getSms(db: Db, p: { projectId: string; id: string }): Promise<Sms> {
  const row = await db
    .selectFrom('sms_messages')
    .select(COLUMNS)
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .executeTakeFirst();
  if (!row) throw new AppError('NOT_FOUND', { message: 'No SMS of this project has this id.' });
  return toSms(row);
}

function toFilterPredicate(p: SmsFilter): RawBuilder<SqlBool> {
  const parts = [
    p.status && sql<SqlBool>`status = ${p.status}`,
    p.sourceType && sql<SqlBool>`(execution_id IS NOT NULL) = ${p.sourceType === 'WORKFLOW'}`,
    p.contactId && sql<SqlBool>`contact_id = ${p.contactId}`,
    p.workflowExecutionId && sql<SqlBool>`execution_id = ${p.workflowExecutionId}`,
    p.to && sql<SqlBool>`to_phone = ${p.to}`,
    p.since && sql<SqlBool>`created_at >= ${p.since}`,
    p.until && sql<SqlBool>`created_at <= ${p.until}`,
  ].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? sql<SqlBool>`true` : sql.join(parts, sql` AND `);
}

function toSms(row: RowOf<'sms_messages', typeof COLUMNS>): Sms {
  return {
    id: row.id,
    contactId: row.contact_id,
    executionId: row.execution_id,
    to: row.to_phone,
    from: row.from_phone,
    country: row.country,
    body: row.body,
    encoding: row.encoding,
    segments: row.segments,
    mode: row.mode,
    status: row.status,
    reason: row.reason,
    error: row.error,
    providerMessageId: row.provider_message_id,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
  };
}
