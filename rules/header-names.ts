import { REPEATED_NAME } from './json-body.ts';

/** The issue for a header that occurs twice. Header names ignore case, and only one of the values would count. */
export const REPEATED_HEADER = { code: 'custom', message: REPEATED_NAME, params: { code: 'duplicate_field' } } as const;

/** Lists the header names that are equal to an earlier name, ignoring case. */
export function listRepeatedHeaders(headers: object): string[] {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  return names.filter((_, index) => lower.indexOf(lower[index] ?? '') !== index);
}
