import { z } from '@hono/zod-openapi';
import { SUPPRESSION_REASONS } from '../../../rules/emails/reasons.ts';
import { EmailAddress } from '../../http/schemas.ts';

export const LIST_DEFAULT = 20;

export const AddSuppression = z
  .object({ email: EmailAddress, reason: z.enum(SUPPRESSION_REASONS).default('manual') })
  .openapi('AddSuppression', { example: { email: 'ada@example.com', reason: 'manual' } });

export const AddressParams = z.object({
  email: z.string().min(1).max(254).openapi({ description: 'The address, URL-encoded', example: 'ada@example.com' }),
});
