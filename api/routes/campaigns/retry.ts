import { createRoute, z } from '@hono/zod-openapi';
import { inTransaction } from '../../../db/transaction.ts';
import { RETRY_ROWS, retryRecipients } from '../../../engine/campaigns/retry.ts';
import { RETRYABLE_REASONS } from '../../../rules/campaigns/retry.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion } from '../../http/record-version.ts';
import { errors, json, ok } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';

const RetryCampaign = z
  .object({
    reasons: z.array(z.enum(RETRYABLE_REASONS)).max(100).nullish().openapi({
      description: 'Retries only recipients that failed for one of these reasons. Defaults to all of them.',
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
    'Retries recipients that FAILED for a reason that can be fixed (`provider_rejected`, `expired`, `template_error`, `sender_not_verified`, `limit_reached`). Bounced, suppressed and unsubscribed recipients are never retried; such a reason returns 422. Recipients keep their `emailId` and Message-ID, the campaign is SENDING again, and no recipient gets it twice. Returns 409 before the campaign was sent, and for a CANCELLED campaign.',
  security: scopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch, body: json(RetryCampaign, { optional: true }) },
  responses: { 200: ok(Requeued), ...errors('CONFLICT', 'DOMAIN_NOT_VERIFIED') },
});

/** Registers the operation that retries failed recipients. */
export function campaignRetryRoutes(app: App, { db, outbox }: Deps): void {
  app.openapi(retryRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const reasons = [...new Set(c.req.valid('json').reasons ?? RETRYABLE_REASONS)];
    // The version is compared for the first page only: recipients that were requeued stay requeued if the campaign
    // changes later.
    let read = readVersion(c);
    let requeued = 0;
    for (;;) {
      const taken = await inTransaction(db, (trx) => retryRecipients(trx, { ...ref, reasons, read }));
      read = undefined;
      outbox.wake(taken.outbox);
      requeued += taken.requeued;
      if (Math.max(taken.requeued, taken.left) < RETRY_ROWS) return c.json({ requeued }, 200);
    }
  });
}
