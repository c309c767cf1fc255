/** A row that cannot be imported, with its cells. If the row cannot be parsed, it has the line of the file instead. */
export interface ReviewedRowWithErrors {
  row: number;
  email: string;
  error: string;
  values: string[];
}

/**
 * Cells that a spreadsheet would execute as formulas. Such a cell gets an apostrophe, which makes it text, as in
 * exports of the API.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

/**
 * Returns the rows with errors as a CSV that can be corrected and imported again. An import skips the two columns
 * that contain the error.
 */
export function createErrorsCsv(headers: readonly string[], rows: readonly ReviewedRowWithErrors[]): string {
  const head = ['import_row', 'import_error', ...headers];
  return [head, ...rows.map(({ row, error, values }) => [String(row), error, ...values])]
    .map((cells) => `${cells.map(formatCell).join(',')}\r\n`)
    .join('');
}

function formatCell(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n;\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
