import { REPEATED_NAME } from './json-body.ts';

/** The issue of a header that is there twice, because header names ignore case. Only one of its values would count. */
export const REPEATED_HEADER = { code: 'custom', message: REPEATED_NAME, params: { code: 'duplicate_field' } } as const;

/** Lists the names of headers that an earlier name equals, apart from case. */
export function repeatedHeaders(headers: object): string[] {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  return names.filter((_, index) => lower.indexOf(lower[index] ?? '') !== index);
}
