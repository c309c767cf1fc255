import { createHash } from 'node:crypto';

/** The parsed input of a request, as the handler receives it. */
export interface FingerprintInput {
  method: string;
  /** The requested path without the query. `/v1/contacts` and `/contacts` are one path. */
  path: string;
  query: unknown;
  body: unknown;
  /** Decoded files, which `body` no longer contains. */
  files: readonly (Uint8Array | undefined)[];
}

/**
 * Hashes the parsed input of a request, to recognize a repeated request. The order of keys and the boundary of a
 * multipart body do not change the hash. Source: contract §1.8 Idempotency.
 */
export async function fingerprintRequest(input: FingerprintInput): Promise<string> {
  const hash = createHash('sha256');
  const path = input.path.replace(/^\/v1(?=\/)/, '').replace(/\/$/, '');
  hash.update(JSON.stringify([input.method, path]));
  hash.update(JSON.stringify(await sortKeys([input.query, input.body])));
  for (const file of input.files) hash.update(digestBytes(file ?? new Uint8Array()));
  return hash.digest('hex');
}

/** Returns a copy with sorted keys, and with digests instead of files. */
async function sortKeys(value: unknown): Promise<unknown> {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Blob)
    return { file: fileName(value), digest: digestBytes(new Uint8Array(await value.arrayBuffer())) };
  if (Array.isArray(value)) return Promise.all(value.map(sortKeys));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // An array of pairs, because an object would move keys such as "1" to the front and drop "__proto__".
  return { pairs: await Promise.all(entries.map(async ([name, member]) => [name, await sortKeys(member)])) };
}

function fileName(file: Blob): string {
  return file instanceof File ? file.name : '';
}

function digestBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
