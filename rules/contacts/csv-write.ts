import { madeText } from './formula-text.ts';

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * A value as a cell of a CSV: text as it is, numbers and booleans as words, lists and objects as JSON, nothing for what
 * is not there. A text that a spreadsheet would run as a formula, or an import would read as another type, gets an
 * apostrophe before it, which makes it text and which an import takes off.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const safe = typeof value === 'string' ? madeText(value) : JSON.stringify(value);
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row of a CSV (RFC 4180), with its line end. */
export function csvRow(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}
