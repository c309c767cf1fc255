import { z } from '@hono/zod-openapi';
import { EmailAddress } from '../../http/schemas.ts';

/**
 * No server has to take a longer part before the `@` (RFC 5321 §4.5.3.1.1): as a question about one address, it is not
 * well-formed.
 */
const LOCAL_PART_MAX_BYTES = 64;

const Verifiable = EmailAddress.check((ctx) => {
  if (Buffer.byteLength(ctx.value.slice(0, ctx.value.lastIndexOf('@'))) <= LOCAL_PART_MAX_BYTES) return;
  const message = `At most ${LOCAL_PART_MAX_BYTES} characters stand before the @`;
  ctx.issues.push({ code: 'custom', message, input: ctx.value, params: { code: 'invalid_string' } });
});

export const VerifyRequest = z
  .object({ email: Verifiable })
  .openapi('VerifyEmail', { example: { email: 'ada@gmial.com' } });
