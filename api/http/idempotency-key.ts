import { z } from '@hono/zod-openapi';
import { AppError } from '../../rules/errors.ts';
import type { RequestContext } from './env.ts';

/** `request.headers` of an operation that takes an Idempotency-Key, for the document; `idempotencyKey` reads it. */
export const IdempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().openapi({
    description: 'Refuses a second request with the same key for 24 hours. 1-255 printable ASCII characters.',
    example: 'order-4711-confirmation',
  }),
});

/**
 * The request's Idempotency-Key, or undefined where it has none.
 * @throws AppError BAD_REQUEST unless it is 1-255 printable ASCII characters
 */
export function idempotencyKey(c: RequestContext): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new AppError('BAD_REQUEST', { message: 'Idempotency-Key must be 1-255 printable ASCII characters.' });
  }
  return key;
}
