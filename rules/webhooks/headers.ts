/**
 * Matches headers that only the HTTP client sets, because they determine the target and the framing of a request. With
 * another `Host`, for example, a request would reach another site than its URL names.
 */
const FRAMING =
  /^(?:host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|:.*)$/i;

/** Tells whether a tenant may not set a header of a request. */
export function isReservedRequestHeader(name: string): boolean {
  return FRAMING.test(name);
}

/** Merges the headers of several records. If a name occurs repeatedly, ignoring case, the last record wins. */
export function mergeHeaders(...records: Record<string, string>[]): Record<string, string> {
  const merged = new Map<string, [string, string]>();
  for (const record of records)
    for (const header of Object.entries(record)) merged.set(header[0].toLowerCase(), header);
  return Object.fromEntries(merged.values());
}
