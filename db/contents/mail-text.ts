import { type RawBuilder, sql } from 'kysely';
import type { MailText } from '../../rules/content/mail-text.ts';
import { MAIL_TEXT_COLUMNS, type MailTextColumns } from '../schema/contents.ts';

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
