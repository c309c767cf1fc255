import { createRoute, z } from '@hono/zod-openapi';
import { getCampaign } from '../../../db/campaigns/campaigns.ts';
import { findSample, readStanding, reviewAudience } from '../../../db/campaigns/review.ts';
import { suppressionPads } from '../../../db/contacts/suppressions.ts';
import { lowerRate } from '../../../db/sending/send-rate.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { campaignFindings, estimateSeconds } from '../../../rules/campaigns/review.ts';
import { missingVariablesFinding } from '../../../rules/content/findings.ts';
import { ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdParams } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';
import { contentReview, NOBODY, readersVariables } from '../content-review.ts';
import { FindingRecord } from '../finding-answer.ts';

const Count = z.number().int();

const Review = z
  .object({
    audience: Count.openapi({ description: 'Contacts in the audience, subscribed or not' }),
    willSend: Count.openapi({ description: 'Those who would be sent to now' }),
    skipped: z.record(z.string(), Count).openapi({ description: 'The others, by reason' }),
    estimatedSeconds: Count.openapi({ description: 'How long it takes at the send rate' }),
    findings: z.array(FindingRecord),
  })
  .openapi('CampaignReview', {
    example: {
      audience: 1000,
      willSend: 988,
      skipped: { unsubscribed: 12 },
      estimatedSeconds: 10,
      findings: [
        {
          code: 'missing_variables' as const,
          severity: 'warning' as const,
          message: 'Some recipients lack firstName: nothing is shown there. Give a default with ??.',
          details: { variables: { firstName: 40 } },
        },
      ],
    },
  });

const reviewRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}/review',
  operationId: 'reviewCampaign',
  tags: ['Campaigns'],
  summary: 'Look a campaign over before it is sent',
  description:
    'Whom it would reach now and whom not, how long that takes, and what stands against it: an `error` keeps it from being sent or read, a `warning` costs ' +
    'readers, an `info` is good to know. Content is looked at as one of those who would get it reads it. Changes nothing.',
  security: scopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: ok(Review) },
});

/** What a sender should know before a campaign leaves. */
export function campaignReviewRoutes(app: App, { config, db, reads, compute }: Deps): void {
  const pads = suppressionPads(deriveKey(config.secretKey, 'suppression'));

  app.openapi(reviewRoute, async (c) => {
    const { projectId, mode } = c.var;
    const campaign = await getCampaign(db, { projectId, id: c.req.valid('param').id });
    const sample = await findSample(reads, { projectId, campaign });
    const content = await contentReview(compute, {
      ...{ projectId, publicUrl: config.publicUrl, content: { ...campaign, type: 'MARKETING' } },
      vars: readersVariables(sample ?? NOBODY),
    });
    const found = await reviewAudience(reads, { projectId, campaign, pads, variables: content.required });
    const { held, domain, sendRate, monthlyRoom } = await readStanding(db, { projectId, campaign, mode });
    const willSend = Math.min(found.willSend, monthlyRoom ?? found.willSend);
    const beyond = found.willSend - willSend;
    const skipped = { ...found.skipped, ...(beyond > 0 && { limit_reached: beyond }) };
    const rate = mode === 'test' ? 0 : lowerRate(sendRate, config.sendRatePerSecond);
    const estimatedSeconds = estimateSeconds(willSend, rate);
    const { audience, missing } = found;
    const standing = { from: campaign.from, domain, held, audience, willSend, estimatedSeconds };
    const findings = [...campaignFindings(standing), ...content.findings, ...missingVariablesFinding(missing)];
    return c.json({ audience, willSend, skipped, estimatedSeconds, findings }, 200);
  });
}
