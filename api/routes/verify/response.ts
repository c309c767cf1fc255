import { z } from '@hono/zod-openapi';
import { successEnvelope } from '../../http/schemas.ts';

export const Verification = successEnvelope(
  z.object({
    email: z.string(),
    valid: z.boolean().openapi({ description: 'Whether the domain exists, accepts email and is not disposable' }),
    isDisposable: z.boolean(),
    isAlias: z.boolean(),
    isTypo: z.boolean(),
    isPlusAddressed: z.boolean(),
    isPersonalEmail: z.boolean(),
    domainExists: z.boolean(),
    hasWebsite: z.boolean(),
    hasMxRecords: z.boolean(),
    suggestedEmail: z.string().optional(),
    reasons: z.array(z.string()),
  }),
).openapi('EmailVerification', {
  example: {
    success: true,
    data: {
      email: 'ada@gmial.com',
      valid: false,
      isDisposable: false,
      isAlias: false,
      isTypo: true,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: true,
      hasMxRecords: false,
      suggestedEmail: 'ada@gmail.com',
      reasons: ['The domain says that it takes no mail.', 'This may be a typing error for ada@gmail.com.'],
    },
  },
});
