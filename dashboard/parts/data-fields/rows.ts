import { isTextList } from '../text-list.ts';

/** Data as editable rows, each with a name, a type and a value. */

/**
 * Type of a row's value: `variable` is filled in at run time, `nothing` is null, `list` holds strings, `json` is any
 * other value, written as JSON.
 */
export type RowType = 'text' | 'number' | 'boolean' | 'date' | 'list' | 'variable' | 'nothing' | 'json';

export interface DataRow {
  key: string;
  name: string;
  type: RowType;
  /** Text in the input; a list is JSON. */
  text: string;
  /**
   * The stored value, until the user edits the row. A save sends this value unchanged, so a large number is not
   * rounded.
   */
  stored?: { value: unknown };
}

/** Why a row is incomplete. */
export type RowFault = 'unnamed' | 'twice' | 'number' | 'date' | 'variable' | 'json';

/** A single variable, whose value keeps its type: a number stays a number (docs/guides/automations.md). */
const VARIABLE = /^\{\{\s*([\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*)\s*\}\}$/u;
const PATH = /^[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*$/u;
const DAY = /^\d{4}-\d\d-\d\d$/;

let rows = 0;
function newKey(): string {
  rows += 1;
  return `field-${rows}`;
}

export function newRow(name = '', type: RowType = 'text'): DataRow {
  return { key: newKey(), name, type, text: getFirstText(type) };
}

/** Returns the rows of stored data, in the same order. */
export function toDataRows(data: Readonly<Record<string, unknown>>): DataRow[] {
  return Object.entries(data).map(([name, value]) => ({ key: newKey(), name, ...readValue(value), stored: { value } }));
}

function readValue(value: unknown): Pick<DataRow, 'type' | 'text'> {
  if (value === null) return { type: 'nothing', text: '' };
  if (typeof value === 'number') return { type: 'number', text: String(value) };
  if (typeof value === 'boolean') return { type: 'boolean', text: String(value) };
  if (isTextList(value)) return { type: 'list', text: JSON.stringify(value) };
  if (typeof value !== 'string') return { type: 'json', text: formatJson(value) };
  const variable = VARIABLE.exec(value)?.[1];
  if (variable !== undefined) return { type: 'variable', text: variable };
  return { type: DAY.test(value) ? 'date' : 'text', text: value };
}

/** Formats JSON on one line up to 40 characters, and with line breaks if it is longer. */
function formatJson(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length <= LINE_CHARS ? line : JSON.stringify(value, null, 1);
}

const LINE_CHARS = 40;

/** Returns the data of the rows, and their errors by row key. The data omits rows with errors. */
export function toData(all: readonly DataRow[]): { data: Record<string, unknown>; faults: Map<string, RowFault> } {
  const data: [string, unknown][] = [];
  const faults = new Map<string, RowFault>();
  const names = new Set<string>();
  for (const row of all) {
    const fault = findRowFault(row) ?? (names.has(row.name) ? 'twice' : undefined);
    if (fault) faults.set(row.key, fault);
    else data.push([row.name, readRow(row)]);
    names.add(row.name);
  }
  // `fromEntries` also sets a field with the name `__proto__`.
  return { data: Object.fromEntries(data), faults };
}

/** Returns whether the data contains everything that was filled in. An untouched row does not count. */
export function isComplete(all: readonly DataRow[]): boolean {
  const { faults } = toData(all);
  return all.every((row) => !faults.has(row.key) || (row.name === '' && row.text === ''));
}

function findRowFault({ name, type, text, stored }: DataRow): RowFault | undefined {
  if (name === '') return 'unnamed';
  if (stored) return undefined;
  switch (type) {
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? undefined : 'number';
    case 'date':
      return text === '' ? 'date' : undefined;
    case 'variable':
      return PATH.test(text) ? undefined : 'variable';
    case 'list':
    case 'json':
      return parseJson(text) === undefined ? 'json' : undefined;
    default:
      return undefined;
  }
}

function readRow({ type, text, stored }: DataRow): unknown {
  if (stored) return stored.value;
  switch (type) {
    case 'number':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'nothing':
      return null;
    case 'variable':
      return `{{${text}}}`;
    case 'list':
    case 'json':
      return parseJson(text);
    default:
      return text;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The text is not complete JSON yet.
  }
}

/** Returns the row with another name and the same value. */
export function withName(row: DataRow, name: string): DataRow {
  return { ...row, name };
}

/** Returns the row with another text. */
export function withText({ stored: _, ...row }: DataRow, text: string): DataRow {
  return { ...row, text };
}

/** Returns the row with another type. The text stays if it can be read as that type. */
export function withType({ stored: _, ...row }: DataRow, type: RowType): DataRow {
  const retyped = { ...row, type };
  return findRowFault({ ...retyped, name: '-' }) === undefined && isValidText(retyped)
    ? retyped
    : { ...retyped, text: getFirstText(type) };
}

function isValidText({ type, text }: DataRow): boolean {
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'list') return isTextList(parseJson(text));
  return type === 'date' ? DAY.test(text) : type !== 'nothing';
}

function getFirstText(type: RowType): string {
  if (type === 'boolean') return 'true';
  return type === 'json' || type === 'list' ? '[]' : '';
}

/** Returns the row type for a field's type in the API. */
export function toRowType(type: string | undefined): RowType {
  if (type === 'number' || type === 'boolean' || type === 'date') return type;
  if (type === 'array') return 'list';
  return type === 'object' ? 'json' : 'text';
}
