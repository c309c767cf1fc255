/**
 * They say where a request goes and how it is framed: HTTP's own to set. Another `Host` would reach a site that its
 * address does not name.
 */
const FRAMING =
  /^(?:host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|:.*)$/i;

/** Whether a header of a request is not for a tenant to set. */
export function isFramingHeader(name: string): boolean {
  return FRAMING.test(name);
}

/** Merges the headers of all records. For equal names, without regard to case, the last record wins. */
export function mergeHeaders(...records: Record<string, string>[]): Record<string, string> {
  const merged = new Map<string, [string, string]>();
  for (const record of records)
    for (const header of Object.entries(record)) merged.set(header[0].toLowerCase(), header);
  return Object.fromEntries(merged.values());
}
