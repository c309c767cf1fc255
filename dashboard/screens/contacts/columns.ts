/** Optional columns of the list: fields of a contact, and `data.<name>`. The address is always shown. */
export const STANDARD_COLUMNS = ['subscription', 'createdAt', 'updatedAt', 'smsSubscribed'] as const;
export const DEFAULT_COLUMNS = ['subscription', 'updatedAt', 'createdAt'];
/** More columns do not fit on a screen. */
const COLUMNS_MAX = 8;

/** Returns the columns of a project's list that this browser has stored; the defaults if it has stored none. */
export function readColumns(stored: string | null): string[] {
  try {
    const columns: unknown = JSON.parse(stored ?? '');
    if (Array.isArray(columns)) return columns.filter((name) => typeof name === 'string').slice(0, COLUMNS_MAX);
  } catch {
    // Nothing is stored, or the stored value is not a list of columns.
  }
  return DEFAULT_COLUMNS;
}

/** Returns the columns with one added at the end or one removed. Beyond eight, the first column is removed. */
export function withColumn(columns: readonly string[], name: string, shown: boolean): string[] {
  const others = columns.filter((column) => column !== name);
  return shown ? [...others, name].slice(-COLUMNS_MAX) : others;
}

/** Formats a value of data as one line. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
