import { z } from '@hono/zod-openapi';
import { CAMPAIGN_FINDINGS } from '../../rules/campaigns/review.ts';
import { CONTENT_FINDINGS, SEVERITIES } from '../../rules/content/findings.ts';

/** A finding of a review or a preview, in a response. */
export const FindingRecord = z
  .object({
    code: z.enum([...CONTENT_FINDINGS, ...CAMPAIGN_FINDINGS]),
    severity: z.enum(SEVERITIES),
    message: z.string().openapi({ description: 'One sentence for users' }),
    details: z.record(z.string(), z.unknown()),
  })
  .openapi('Finding', {
    example: {
      code: 'missing_variables',
      severity: 'warning',
      message: 'Some recipients lack firstName: nothing is shown there. Give a default with ??.',
      details: { variables: { firstName: 12 } },
    },
  });
