/** The type that the values of a column get. */
export type ColumnType = 'text' | 'number' | 'boolean' | 'json';

/**
 * Returns the type of a cell. A cell has another type than `text` only if it can be converted to this type and written
 * back unchanged. `json` is a list or an object.
 */
export function detectCellType(text: string): ColumnType {
  if (text === 'true' || text === 'false') return 'boolean';
  const number = Number(text);
  // Infinity is not JSON, and a whole number beyond 2^53 would change when it is written back.
  const isExact = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (isExact && String(number) === text) return 'number';
  return isJson(text) ? 'json' : 'text';
}

function isJson(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

/**
 * Converts a cell to the type of its column. Undefined if the cell has another type. A column of numbers accepts
 * decimals with trailing zeros, such as `10.50`, because people write prices that way; the zeros are lost.
 */
export function convertToType(text: string, type: ColumnType): unknown {
  if (type === 'text') return text;
  if (type === 'number' && /^-?(0|[1-9]\d{0,14})\.\d{1,10}$/.test(text)) return Number(text);
  if (detectCellType(text) !== type) return undefined;
  return JSON.parse(text);
}

const EXPECTED: Record<ColumnType, string> = {
  text: 'text',
  number: 'a number such as 10.5',
  boolean: 'true or false',
  json: 'a list or an object as JSON',
};

/** Returns the error text for a cell of another type. The text names the expected type. */
export function describeExpectedType(field: string, type: ColumnType): string {
  return `${field}: the field's values are of another type. Write ${EXPECTED[type]}, or map the column to another field.`;
}
