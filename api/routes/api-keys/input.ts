import { z } from '@hono/zod-openapi';
import { GRANTABLE_SCOPES } from '../../../rules/access/scopes.ts';
import { NullableInstantInput } from '../../http/schemas.ts';

export const Mode = z.enum(['live', 'test']);

export const CreateApiKey = z
  .object({
    name: z.string().trim().min(1).max(100),
    scopes: z
      .array(z.string())
      .max(GRANTABLE_SCOPES.length)
      .openapi({ items: { type: 'string', enum: [...GRANTABLE_SCOPES] } }),
    expiresAt: NullableInstantInput,
    mode: Mode.default('live'),
  })
  .openapi('CreateApiKey', { example: { name: 'Web shop', scopes: ['email:send', 'contacts:edit'], mode: 'live' } });
