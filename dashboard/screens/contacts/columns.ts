/** Columns of the list that can be had beside the address: fields of a contact, and `data.<name>`. */
export const STANDARD_COLUMNS = ['subscription', 'createdAt', 'updatedAt', 'smsSubscribed'] as const;
export const FIRST_COLUMNS = ['subscription', 'createdAt'];
/** More do not fit next to each other. */
const COLUMNS_MAX = 8;

/** The columns that a project's list has in this browser; the first ones where nothing is kept. */
export function readColumns(kept: string | null): string[] {
  try {
    const columns: unknown = JSON.parse(kept ?? '');
    if (Array.isArray(columns)) return columns.filter((name) => typeof name === 'string').slice(0, COLUMNS_MAX);
  } catch {
    // Nothing is kept, or something else is under this name.
  }
  return FIRST_COLUMNS;
}

/** With a column more or less; a new one comes last. */
export function withColumn(columns: readonly string[], name: string, shown: boolean): string[] {
  const others = columns.filter((column) => column !== name);
  return shown ? [...others, name].slice(-COLUMNS_MAX) : others;
}

/** A value of data as one line. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
