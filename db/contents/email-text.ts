import { type RawBuilder, sql } from 'kysely';
import type { EmailText } from '../../rules/content/email-text.ts';
import { EMAIL_TEXT_COLUMNS, type EmailTextColumns } from '../schema/contents.ts';

const FIELDS = Object.entries(EMAIL_TEXT_COLUMNS) as [keyof EmailText, keyof EmailTextColumns][];

/** The names of the columns, for statements that copy them. */
export const EMAIL_TEXT_COLUMN_NAMES = Object.values(EMAIL_TEXT_COLUMNS);

/** Selects the columns of the table `alias` under the names of the fields of `EmailText`. */
export function selectEmailText(alias: string): RawBuilder<EmailText> {
  return sql.raw<EmailText>(FIELDS.map(([field, column]) => `${alias}.${column} AS "${field}"`).join(', '));
}

/** Maps the columns of a row to the fields of an email's text. */
export function toEmailText<From>(row: EmailTextColumns<From>): EmailText<From> {
  return Object.fromEntries(FIELDS.map(([field, column]) => [field, row[column]])) as unknown as EmailText<From>;
}

/** Maps the fields of an email's text to columns. Omitted fields are not written. */
export function toEmailTextColumns<Text extends Partial<EmailText<string | null>>>(
  text: Text,
): { [Field in keyof EmailText as (typeof EMAIL_TEXT_COLUMNS)[Field]]: Text[Field] } {
  return Object.fromEntries(FIELDS.map(([field, column]) => [column, text[field]])) as never;
}
