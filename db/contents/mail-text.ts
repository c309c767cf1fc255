import { type RawBuilder, sql } from 'kysely';
import type { MailText } from '../../rules/content/mail-text.ts';
import type { MailTextColumns } from '../schema/contents.ts';

/** The column of each field. All columns are text. */
export const MAIL_TEXT_COLUMNS = {
  subject: 'subject',
  body: 'body',
  preheader: 'preheader',
  from: 'from_email',
  fromName: 'from_name',
  replyTo: 'reply_to',
} as const satisfies Record<keyof MailText, keyof MailTextColumns>;

const FIELDS = Object.entries(MAIL_TEXT_COLUMNS) as [keyof MailText, keyof MailTextColumns][];

/** The columns by name, for statements that copy them. */
export const MAIL_TEXT_COLUMN_NAMES = Object.values(MAIL_TEXT_COLUMNS);

/** Selects the columns of the table `alias` under the names of their fields, so that its rows are a `MailText`. */
export function selectMailText(alias: string): RawBuilder<MailText> {
  return sql.raw<MailText>(FIELDS.map(([field, column]) => `${alias}.${column} AS "${field}"`).join(', '));
}

/** Returns the text of a row. */
export function mailTextOf<From>(row: MailTextColumns<From>): MailText<From> {
  return Object.fromEntries(FIELDS.map(([field, column]) => [field, row[column]])) as unknown as MailText<From>;
}

/** Returns the columns to write. Omitted fields are not written. */
export function mailTextColumns<Text extends Partial<MailText<string | null>>>(
  text: Text,
): { [Field in keyof MailText as (typeof MAIL_TEXT_COLUMNS)[Field]]: Text[Field] } {
  return Object.fromEntries(FIELDS.map(([field, column]) => [column, text[field]])) as never;
}
