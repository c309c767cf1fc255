import { escapeFormula } from './formula-text.ts';

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/**
 * Writes a value as a CSV cell: text unchanged, numbers and booleans as text, lists and objects as JSON, and an empty
 * cell for a missing value. Text that a spreadsheet would run as a formula, or that an import would read as another
 * type, gets an apostrophe before it. Spreadsheets and imports then read the cell as text, and an import removes the
 * apostrophe.
 */
export function formatCsvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const safe = typeof value === 'string' ? escapeFormula(value) : JSON.stringify(value);
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns a row of a CSV file (RFC 4180), with its line end. */
export function formatCsvRow(values: readonly unknown[]): string {
  return `${values.map(formatCsvCell).join(',')}\r\n`;
}
