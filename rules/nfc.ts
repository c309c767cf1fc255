import { isAscii } from 'node:buffer';

/**
 * Converts the strings and field names of a JSON value to Unicode normalization form C. A keyboard writes `é` as one
 * character, but a file name on macOS has two characters for it, which look the same. A search must find both
 * spellings. The value of a field whose name ends in `password` is not converted, because only its hash is stored.
 * Source: Unicode Standard Annex #15, contract §1.16 Unicode.
 */
export function normalizeStrings(value: unknown): unknown {
  if (typeof value === 'string') return value.normalize('NFC');
  if (Array.isArray(value)) return value.map(normalizeStrings);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.normalize('NFC'),
      PASSWORDS.test(name) ? member : normalizeStrings(member),
    ]),
  );
}

const PASSWORDS = /password$/i;

/** Tells whether JSON may contain text that normalization would change. ASCII without escape sequences never does. */
export function mayNeedNormalizing(json: Uint8Array): boolean {
  return !isAscii(json) || Buffer.from(json.buffer, json.byteOffset, json.byteLength).includes('\\u');
}
