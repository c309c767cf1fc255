import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { fingerprintRequest } from '../../rules/access/request-fingerprint.ts';
import { AppError } from '../../rules/errors.ts';
import type { AppEnv, RequestContext } from './env.ts';

/** The schema `request.headers` of an operation that accepts an Idempotency-Key. `readIdempotencyKey` reads the key. */
export const IdempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().openapi({
    description:
      'For 24 hours, another request with the same key returns 409 and has no effect. 1-255 printable ASCII characters.',
    example: 'order-4711-confirmation',
  }),
});

/**
 * Returns the request's Idempotency-Key, or undefined without one.
 * @throws AppError BAD_REQUEST unless it is 1-255 printable ASCII characters
 */
export function readIdempotencyKey(c: RequestContext): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new AppError('BAD_REQUEST', {
      message: 'Idempotency-Key must be 1-255 printable ASCII characters.',
      suggestion: 'Use a UUID, or an id that you choose, such as order-4711-confirmation.',
    });
  }
  return key;
}

/** A request after the checks of its query and body. */
type ParsedContext = Context<AppEnv, string, { out: { query: unknown; json: unknown; form: unknown } }>;

/**
 * Sets `fingerprint` of a request with an Idempotency-Key: the hash of its parsed input. If another request used the
 * key before, the request fails with IDEMPOTENCY_KEY_REUSED, and `details.sameRequest` of this error tells whether both
 * requests have the same fingerprint. Call this function after the input is parsed.
 */
export async function storeFingerprint(c: ParsedContext): Promise<void> {
  if (readIdempotencyKey(c) === undefined) return;
  const read = (target: 'query' | 'json' | 'form') => c.req.valid(target) ?? null;
  const body = { json: read('json'), form: read('form') };
  const input = { method: c.req.method, path: c.req.path, query: read('query'), body, files: c.get('files') ?? [] };
  c.set('fingerprint', await fingerprintRequest(input));
}
