import { createRoute, z } from '@hono/zod-openapi';
import { inTransaction } from '../../../db/transaction.ts';
import { RETRY_ROWS, retryRecipients } from '../../../engine/campaigns/retry.ts';
import { RETRYABLE_REASONS } from '../../../rules/campaigns/retry.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion } from '../../http/record-version.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';

const RetryCampaign = z
  .object({
    reasons: z.array(z.enum(RETRYABLE_REASONS)).max(100).nullish().openapi({
      description:
        'Retries only recipients that failed with one of these reasons. By default, all of these reasons are retried.',
    }),
  })
  .openapi('RetryCampaign', { example: { reasons: ['provider_rejected', 'expired'] } });

const Requeued = z.object({ requeued: z.number().int() }).openapi('CampaignRequeued', { example: { requeued: 12 } });

const retryRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/retry',
  operationId: 'retryCampaign',
  unknownFields: 'refuse',
  tags: ['Campaigns'],
  summary: 'Retry failed recipients of a campaign',
  description:
    'Sends again to recipients that are FAILED with a reason that can be fixed (`provider_rejected`, `expired`, `template_error`, `sender_not_verified`, `limit_reached`). Bounced, suppressed and unsubscribed recipients are never retried; any other reason returns 422. The emails keep their `emailId` and Message-ID, and a SENT campaign becomes SENDING again. No recipient gets the email twice. Returns 409 if the campaign has not started or is CANCELLED.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(RetryCampaign, { optional: true }) },
  responses: { 200: jsonResponse(Requeued), ...errorResponses('CONFLICT', 'DOMAIN_NOT_VERIFIED') },
});

/** Registers the operation that retries failed recipients. */
export function registerCampaignRetryRoutes(app: App, { db, outbox }: Deps): void {
  app.openapi(retryRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const reasons = [...new Set(c.req.valid('json').reasons ?? RETRYABLE_REASONS)];
    // The version that the caller has read is compared only in the first transaction. If the campaign changes later,
    // the remaining recipients are still requeued.
    let read = readVersion(c);
    let requeued = 0;
    for (;;) {
      const batch = await inTransaction(db, (trx) => retryRecipients(trx, { ...ref, reasons, read }));
      read = undefined;
      outbox.wake(batch.outbox);
      requeued += batch.requeued;
      if (Math.max(batch.requeued, batch.left) < RETRY_ROWS) return c.json({ requeued }, 200);
    }
  });
}
