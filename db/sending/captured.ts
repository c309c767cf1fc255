import { sql } from 'kysely';
import type { Db } from '../connection.ts';

export interface CapturedEmail {
  id: string;
  fromEmail: string;
  toEmail: string;
  /** The complete message, as a provider would get it. */
  raw: Buffer;
  createdAt: Date;
}

export interface CapturedSms {
  id: string;
  from: string;
  to: string;
  body: string;
  createdAt: Date;
}

/** Maximum number of messages that the development mailbox lists. */
const SHOWN_MAX = 200;

/**
 * Stores an email in the development mailbox. If an email is sent again, it replaces its earlier copy, as in mailboxes
 * that show each Message-ID once.
 */
export async function insertCapturedEmail(
  db: Db,
  message: { id: string; from: string; to: string; raw: string | Buffer },
): Promise<void> {
  const raw = typeof message.raw === 'string' ? Buffer.from(message.raw, 'latin1') : message.raw;
  await sql`
    INSERT INTO captured_emails (id, from_email, to_email, raw) VALUES (${message.id}, ${message.from}, ${message.to.toLowerCase()}, ${raw})
    ON CONFLICT (id) DO UPDATE SET raw = excluded.raw
  `.execute(db);
}

/**
 * Selects captured messages: with `to`, only messages to this recipient; with `projects`, only messages of these
 * projects.
 */
interface CapturedFilter {
  to?: string | undefined;
  projects?: readonly string[] | undefined;
}

/** Lists captured emails newest first, at most 200 by default. */
export async function listCapturedEmails(
  db: Db,
  p: CapturedFilter & { limit?: number } = {},
): Promise<CapturedEmail[]> {
  const { rows } = await sql<CapturedEmail>`
    SELECT id, from_email AS "fromEmail", to_email AS "toEmail", raw, created_at AS "createdAt" FROM captured_emails
    WHERE ${p.to === undefined ? sql`true` : sql`to_email = ${p.to.trim().toLowerCase()}`}
      AND ${isCapturedFor('emails', 'captured_emails', p.projects)}
    ORDER BY id DESC LIMIT ${p.limit ?? SHOWN_MAX}
  `.execute(db);
  return rows;
}

/** Counts the captured emails to a domain, and their different addresses. */
export async function countCapturedEmails(
  db: Db,
  p: { toDomain: string },
): Promise<{ emails: number; addresses: number }> {
  const { rows } = await sql<{ emails: number; addresses: number }>`
    SELECT count(*)::int AS emails, count(DISTINCT to_email)::int AS addresses FROM captured_emails
    WHERE split_part(to_email, '@', 2) = ${p.toDomain.toLowerCase()}
  `.execute(db);
  return rows[0] ?? { emails: 0, addresses: 0 };
}

/** Returns one captured email, or undefined if it does not exist or belongs to none of `projects`. */
export async function findCapturedEmail(
  db: Db,
  p: { id: string; projects?: readonly string[] | undefined },
): Promise<CapturedEmail | undefined> {
  const { rows } = await sql<CapturedEmail>`
    SELECT id, from_email AS "fromEmail", to_email AS "toEmail", raw, created_at AS "createdAt"
    FROM captured_emails WHERE id = ${p.id} AND ${isCapturedFor('emails', 'captured_emails', p.projects)}
  `.execute(db);
  return rows[0];
}

/** Stores an SMS in the development mailbox. If the SMS is already stored, nothing changes. */
export async function insertCapturedSms(db: Db, sms: Omit<CapturedSms, 'createdAt'>): Promise<void> {
  await sql`
    INSERT INTO captured_sms (id, from_phone, to_phone, body) VALUES (${sms.id}, ${sms.from}, ${sms.to}, ${sms.body})
    ON CONFLICT (id) DO NOTHING
  `.execute(db);
}

/** Lists captured SMS newest first, at most 200. */
export async function listCapturedSms(db: Db, p: CapturedFilter = {}): Promise<CapturedSms[]> {
  const { rows } = await sql<CapturedSms>`
    SELECT id, from_phone AS "from", to_phone AS "to", body, created_at AS "createdAt" FROM captured_sms
    WHERE ${p.to === undefined ? sql`true` : sql`to_phone = ${p.to}`} AND ${isCapturedFor('sms_messages', 'captured_sms', p.projects)}
    ORDER BY id DESC LIMIT ${SHOWN_MAX}
  `.execute(db);
  return rows;
}

/**
 * SQL condition that a captured message belongs to one of the projects. The captured message has the same id as its row
 * in `emails` or `sms_messages`, which has the project.
 */
function isCapturedFor(records: 'emails' | 'sms_messages', captured: string, projects: readonly string[] | undefined) {
  if (projects === undefined) return sql`true`;
  return sql`EXISTS (
    SELECT FROM ${sql.table(records)} AS record
    WHERE record.id = ${sql.ref(`${captured}.id`)} AND record.project_id = ANY(${projects}::uuid[]))`;
}
