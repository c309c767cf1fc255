/** A row that cannot be imported, with its cells; of one that cannot be read its line. */
export interface BadRow {
  row: number;
  email: string;
  error: string;
  values: string[];
}

/** What a spreadsheet would run: shown as text, as exports of the API do. */
const FORMULA = /^'*[=+\-@\t\r]/;

/**
 * The bad rows as a CSV that can be mended and imported again: an import passes over the two columns that say what was
 * wrong.
 */
export function badRowsCsv(headers: readonly string[], rows: readonly BadRow[]): string {
  const head = ['import_row', 'import_error', ...headers];
  return [head, ...rows.map(({ row, error, values }) => [String(row), error, ...values])]
    .map((cells) => `${cells.map(cell).join(',')}\r\n`)
    .join('');
}

function cell(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n;\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
