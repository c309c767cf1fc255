/** A header of a request in the form. */
export interface HeaderRow {
  key: string;
  name: string;
  value: string;
  /** The name under which the masked value is stored, until the user types another value. */
  storedName?: string;
}

export type HeaderFault = 'unnamed' | 'name' | 'twice' | 'renamed';

/** A stored secret as the API shows it: at most four characters, then dots. */
const MASK = /^.{0,4}••••$/u;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

let rows = 0;
const newKey = (): string => {
  rows += 1;
  return `header-${rows}`;
};

export function newHeader(): HeaderRow {
  return { key: newKey(), name: '', value: '' };
}

/** Returns the rows of stored headers; undefined if they are not names and strings. */
export function toHeaderRows(stored: unknown): HeaderRow[] | undefined {
  if (stored === undefined || stored === null) return [];
  if (typeof stored !== 'object' || Array.isArray(stored)) return undefined;
  const all = Object.entries(stored);
  if (!all.every(([, value]) => typeof value === 'string')) return undefined;
  return all.map(([name, value]: [string, string]) => ({
    key: newKey(),
    name,
    value,
    ...(MASK.test(value) && { storedName: name }),
  }));
}

/** Returns the headers as the API takes them; undefined if no row has a name. Rows without a name are skipped. */
export function toHeaders(all: readonly HeaderRow[]): Record<string, string> | undefined {
  const namedRows = all.filter(({ name }) => name !== '');
  return namedRows.length > 0 ? Object.fromEntries(namedRows.map(({ name, value }) => [name, value])) : undefined;
}

/** Returns the errors of rows, by their keys. */
export function findHeaderFaults(all: readonly HeaderRow[]): Map<string, HeaderFault> {
  const faults = new Map<string, HeaderFault>();
  const usedNames = new Set<string>();
  for (const { key, name, value, storedName } of all) {
    const lower = name.toLowerCase();
    if (name === '') {
      if (value !== '') faults.set(key, 'unnamed');
    } else if (!NAME.test(name)) faults.set(key, 'name');
    else if (usedNames.has(lower)) faults.set(key, 'twice');
    else if (storedName !== undefined && storedName.toLowerCase() !== lower) faults.set(key, 'renamed');
    usedNames.add(lower);
  }
  return faults;
}
