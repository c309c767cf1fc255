import { z } from '@hono/zod-openapi';
import { EmailAddress } from '../../http/schemas.ts';

export const VerifyRequest = z
  .object({ email: EmailAddress })
  .openapi('VerifyEmail', { example: { email: 'ada@gmial.com' } });
