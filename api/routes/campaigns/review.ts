import { createRoute, z } from '@hono/zod-openapi';
import { getCampaign, listVariantTexts } from '../../../db/campaigns/campaigns.ts';
import {
  countContactsByZone,
  findSampleContact,
  readSendingState,
  reviewAudience,
} from '../../../db/campaigns/review.ts';
import { createSuppressionPads } from '../../../db/contacts/suppressions.ts';
import { chooseLowerRate } from '../../../db/sending/send-rate.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { estimateSendingSeconds } from '../../../rules/campaigns/duration.ts';
import { dependsOnRecipientZone } from '../../../rules/campaigns/gate.ts';
import { findVariantsWithoutReader, listCampaignFindings, mergeFindings } from '../../../rules/campaigns/review.ts';
import { listMissingVariablesFindings } from '../../../rules/content/findings.ts';
import type { ContentReview } from '../../../rules/content/review.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { buildReaderVariables, reviewContent, SAMPLE_READER } from '../content-review.ts';
import { FindingRecord } from '../finding-response.ts';

const Count = z.number().int();

const Review = z
  .object({
    audience: Count.openapi({
      description: 'Number of contacts in the audience, including contacts that are not subscribed',
    }),
    willSend: Count.openapi({ description: 'Number of contacts that would get the campaign now' }),
    skipped: z.record(z.string(), Count).openapi({ description: 'Number of skipped contacts by reason' }),
    estimatedSeconds: Count.openapi({
      description:
        'Time from the start until the last email is sent. The estimate considers the send rate, sending windows, local times of recipients and the wait of a test.',
    }),
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
  summary: 'Review a campaign before sending',
  description:
    'Returns how many contacts the campaign would reach now, how many would be skipped, how long sending would take, and what to fix. A finding of severity `error` means that the campaign cannot be sent or read. A `warning` means that fewer recipients will read it. An `info` needs no action. The content of each variant is rendered for one of its recipients and checked. If a finding applies to only some variants, `details.variants` lists them. The operation changes nothing.',
  security: allowScopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(Review) },
});

/** Registers the operation that reviews a campaign before it is sent. */
export function registerCampaignReviewRoutes(app: App, { config, db, reads, compute }: Deps): void {
  const pads = createSuppressionPads(deriveKey(config.secretKey, 'suppression'));

  app.openapi(reviewRoute, async (c) => {
    const { projectId, project, mode } = c.var;
    const campaign = await getCampaign(db, { projectId, id: c.req.valid('param').id });
    const texts = listVariantTexts(campaign);
    const sample = await findSampleContact(reads, { projectId, campaign });
    const reviews: ContentReview[] = [];
    for (const text of texts) {
      const content = { ...text, type: 'MARKETING' as const };
      const vars = buildReaderVariables(sample ?? SAMPLE_READER, { zone: project.timezone });
      reviews.push(await reviewContent(compute, { projectId, publicUrl: config.publicUrl, content, vars }));
    }
    const variables = [...new Set(reviews.flatMap(({ required }) => required))];
    const audienceReview = await reviewAudience(reads, { projectId, campaign, pads, variables });
    const senders = [...new Set(texts.map(({ from }) => from))];
    const { held, domains, sendRate, remainingMonthlyQuota, clock } = await readSendingState(db, {
      projectId,
      campaign,
      mode,
      senders,
    });
    const willSend = Math.min(audienceReview.willSend, remainingMonthlyQuota ?? audienceReview.willSend);
    const aboveQuota = audienceReview.willSend - willSend;
    const skipped = { ...audienceReview.skipped, ...(aboveQuota > 0 && { limit_reached: aboveQuota }) };
    const { sendAtLocal, latePolicy } = campaign.timing;
    const byZone = dependsOnRecipientZone({ window: clock.window, sendAtLocal });
    const estimatedSeconds = estimateSendingSeconds({
      willSend,
      ratePerSecond: mode === 'test' ? 0 : chooseLowerRate(sendRate, config.sendRatePerSecond),
      zones: byZone ? await countContactsByZone(reads, { projectId, campaign }) : [],
      clock: { ...clock, sendAtLocal, latePolicy },
      scheduledAt: campaign.scheduledAt,
      test: campaign.test,
      nowMs: Date.now(),
    });
    const { audience, missing } = audienceReview;
    const findings = [
      ...listCampaignFindings({
        held,
        audience,
        willSend,
        estimatedSeconds,
        senders: senders.map((from) => ({ from, domain: domains.get(from) ?? null })),
      }),
      ...findVariantsWithoutReader({ variants: campaign.variants, test: campaign.test, willSend }),
      ...mergeFindings(
        reviews.map((review) => review.findings),
        campaign.variants?.map(({ name }) => name) ?? null,
      ),
      ...listMissingVariablesFindings(missing),
    ];
    return c.json({ audience, willSend, skipped, estimatedSeconds, findings }, 200);
  });
}
