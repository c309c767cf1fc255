import { isAscii } from 'node:buffer';

/**
 * Puts the strings and field names of a JSON value into Unicode normalization form C. A keyboard types `é` as one
 * character, but a file name of macOS has it as two characters that look the same. A search has to find both forms.
 * Passwords keep their form, since only their hash is stored. Source: Unicode Standard Annex #15, contract §1.16
 * Unicode Text.
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

/** Tells whether JSON may contain a character with several forms. ASCII without escapes never does. */
export function mayNeedNormalizing(json: Uint8Array): boolean {
  return !isAscii(json) || Buffer.from(json.buffer, json.byteOffset, json.byteLength).includes('\\u');
}
