import type { Data } from '../filters/data-values.ts';

/**
 * The maximum amount of data that requests with the public key may store on one contact, over all requests together. A
 * form has only a few short fields. This limit is separate from `DATA_LIMITS` for the project's own data, so that
 * untrusted data takes none of that space. `bytes` counts the data as JSON in UTF-8.
 */
export const PUBLIC_DATA_LIMITS = { keys: 20, bytes: 4_096 } as const;

/** A contact's stored data, and the keys whose values are untrusted. */
export interface StoredData {
  data: Readonly<Data>;
  untrustedKeys: readonly string[];
}

/**
 * Returns the fields of `set` that a request with the public key may write to a contact: new fields, and fields whose
 * stored values are untrusted already. Skips fields whose stored values are trusted. Takes the fields in order, and
 * skips each field that would exceed a limit. Skipped fields cause no error, because an error would reveal stored data.
 */
export function selectPublicData(stored: StoredData, set: Readonly<Data>): Data {
  const untrusted = new Set(stored.untrustedKeys);
  const sizes = new Map<string, number>();
  for (const [key, value] of Object.entries(stored.data))
    if (untrusted.has(key)) sizes.set(key, countEntryBytes(key, value));
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const accepted: Data = {};
  for (const [key, value] of Object.entries(set)) {
    if (Object.hasOwn(stored.data, key) && !untrusted.has(key)) continue;
    const before = sizes.get(key);
    const size = countEntryBytes(key, value);
    const grows = size > (before ?? 0);
    if (before === undefined && sizes.size >= PUBLIC_DATA_LIMITS.keys) continue;
    if (grows && bytes - (before ?? 0) + size > PUBLIC_DATA_LIMITS.bytes) continue;
    bytes += size - (before ?? 0);
    sizes.set(key, size);
    accepted[key] = value;
  }
  return accepted;
}

/** Splits a contact's data into the project's own values and untrusted values. */
export function splitByWriter({ data, untrustedKeys }: StoredData): { own: Readonly<Data>; untrusted: Data } {
  if (untrustedKeys.length === 0) return { own: data, untrusted: {} };
  const untrusted = new Set(untrustedKeys);
  const entries = Object.entries(data);
  return {
    own: Object.fromEntries(entries.filter(([key]) => !untrusted.has(key))),
    untrusted: Object.fromEntries(entries.filter(([key]) => untrusted.has(key))),
  };
}

/** Returns the size of a key with its value in JSON, with the colon and a comma. */
function countEntryBytes(key: string, value: unknown): number {
  return Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(JSON.stringify(value) ?? '') + 2;
}
