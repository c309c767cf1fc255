import { sql } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Db } from './connection.ts';

export interface SmsSender {
  id: string;
  /** ISO 3166-1 alpha-2; null is the default for countries without one of their own. */
  country: string | null;
  from: string;
  createdAt: Date;
}

/** The senders of a project, by country, the default last. A project has at most one a country. */
export async function listSmsSenders(db: Db, projectId: string): Promise<SmsSender[]> {
  const { rows } = await sql<SmsSender>`
    SELECT id, country, from_phone AS "from", created_at AS "createdAt"
    FROM sms_senders WHERE project_id = ${projectId} ORDER BY country NULLS LAST
  `.execute(db);
  return rows;
}

/** @throws AppError CONFLICT when the country has a sender */
export async function insertSmsSender(
  db: Db,
  p: { projectId: string; country: string | null; from: string },
): Promise<SmsSender> {
  const { rows } = await sql<SmsSender>`
    INSERT INTO sms_senders (project_id, country, from_phone) VALUES (${p.projectId}, ${p.country}, ${p.from})
    ON CONFLICT ON CONSTRAINT sms_senders_country DO NOTHING
    RETURNING id, country, from_phone AS "from", created_at AS "createdAt"
  `.execute(db);
  const [sender] = rows;
  if (sender) return sender;
  const message = p.country ? `There is a sender for ${p.country}.` : 'There is a default sender.';
  throw new AppError('CONFLICT', { message, details: { country: p.country } });
}

/** @throws AppError NOT_FOUND */
export async function deleteSmsSender(db: Db, p: { projectId: string; id: string }): Promise<void> {
  const result = await sql`DELETE FROM sms_senders WHERE project_id = ${p.projectId} AND id = ${p.id}`.execute(db);
  if (result.numAffectedRows === 0n)
    throw new AppError('NOT_FOUND', { message: 'No SMS sender of this project has this id.' });
}

/**
 * The sender for a country: its own, else the default.
 * @throws AppError NO_SMS_SENDER
 */
export async function getSmsSenderFor(db: Db, p: { projectId: string; country: string }): Promise<string> {
  const { rows } = await sql<{ from_phone: string }>`
    SELECT from_phone FROM sms_senders
    WHERE project_id = ${p.projectId} AND (country = ${p.country} OR country IS NULL)
    ORDER BY country NULLS LAST LIMIT 1
  `.execute(db);
  if (!rows[0]) throw new AppError('NO_SMS_SENDER', { details: { country: p.country } });
  return rows[0].from_phone;
}
