import { type RawBuilder, sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';
import type { RowOf } from '../schema/database.ts';

export interface SmsSender {
  id: string;
  /** ISO 3166-1 alpha-2. Null marks the default sender, for countries without a specific sender. */
  country: string | null;
  from: string;
  createdAt: Date;
}

const COLUMNS = ['id', 'country', 'from_phone', 'created_at'] as const;

/** Lists the senders of a project by country, the default last. A project has at most one sender per country. */
export async function listSmsSenders(db: Db, projectId: string): Promise<SmsSender[]> {
  const rows = await db
    .selectFrom('sms_senders')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('country', (order) => order.asc().nullsLast())
    .execute();
  return rows.map(toSender);
}

/**
 * Inserts a sender.
 * @throws AppError CONFLICT when the country already has a sender
 */
export async function insertSmsSender(
  db: Db,
  p: { projectId: string; country: string | null; from: string },
): Promise<SmsSender> {
  const row = await db
    .insertInto('sms_senders')
    .values({ project_id: p.projectId, country: p.country, from_phone: p.from })
    .onConflict((conflict) => conflict.constraint('sms_senders_country').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (row) return toSender(row);
  const message = p.country
    ? `This project already has a sender for ${p.country}.`
    : 'This project already has a default sender.';
  throw new AppError('CONFLICT', {
    message,
    details: { country: p.country },
    suggestion: 'Delete that sender first with DELETE /sms/senders/{id}; GET /sms/senders lists all.',
  });
}

/**
 * Deletes a sender.
 * @throws AppError NOT_FOUND
 */
export async function deleteSmsSender(db: Db, p: { projectId: string; id: string }): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('sms_senders')
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .executeTakeFirst();
  if (!numDeletedRows) throw new AppError('NOT_FOUND', { message: 'No SMS sender of this project has this id.' });
}

/**
 * Returns the sender for a country: the sender of the country if there is one, otherwise the default.
 * @throws AppError NO_SMS_SENDER
 */
export async function getSmsSenderFor(db: Db, p: { projectId: string; country: string }): Promise<string> {
  const row = await db
    .selectFrom('sms_senders')
    .select('from_phone')
    .where('project_id', '=', p.projectId)
    .where(({ eb, or }) => or([eb('country', '=', p.country), eb('country', 'is', null)]))
    .orderBy('country', (order) => order.asc().nullsLast())
    .limit(1)
    .executeTakeFirst();
  if (!row) throw new AppError('NO_SMS_SENDER', { details: { country: p.country } });
  return row.from_phone;
}

/**
 * Returns a subquery for the sender of a country. The sender is NULL if the country has no sender and there is no
 * default.
 */
export function smsSenderSql(projectId: string, country: string): RawBuilder<string | null> {
  return sql<string | null>`
    SELECT from_phone FROM sms_senders WHERE project_id = ${projectId} AND (country = ${country} OR country IS NULL)
    ORDER BY country NULLS LAST LIMIT 1`;
}

function toSender(row: RowOf<'sms_senders', typeof COLUMNS>): SmsSender {
  return { id: row.id, country: row.country, from: row.from_phone, createdAt: row.created_at };
}
