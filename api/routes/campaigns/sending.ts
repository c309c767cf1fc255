import { createRoute } from '@hono/zod-openapi';
import { type Campaign, getCampaign, lockCampaign } from '../../../db/campaigns/campaigns.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign, startCampaign } from '../../../engine/campaigns/lifecycle.ts';
import { insertTestEmail } from '../../../engine/campaigns/test-email.ts';
import { chooseWinner } from '../../../engine/campaigns/variant-test.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { resolveAliases } from '../../http/aliases.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { SendCampaign, TestCampaign } from './input.ts';
import { CampaignDone, readCampaignResponse, TestSent, toCampaignResponse } from './response.ts';
import { assertFuture, computeStart, mergeTiming } from './timing.ts';
import { ChooseWinner, findVariantText } from './variants-input.ts';

const tags = ['Campaigns'];

const sendRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/send',
  operationId: 'sendCampaign',
  unknownFields: 'refuse',
  tags,
  summary: 'Send or schedule a campaign',
  description:
    'Sends a DRAFT now or at `scheduledFor`, or changes the time of a SCHEDULED campaign. Only subscribed contacts get the campaign, and each contact gets it once. Consent is checked again just before each email is sent. Returns 400 for a time in the past or an empty audience, and 409 if the campaign is in any other state.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(SendCampaign, { optional: true }) },
  responses: {
    200: versionedResponse(CampaignDone),
    ...errorResponses('BAD_REQUEST', 'DOMAIN_NOT_VERIFIED', 'CONFLICT', 'BILLING_LIMIT_EXCEEDED'),
  },
});

const cancelRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/cancel',
  operationId: 'cancelCampaign',
  unknownFields: 'refuse',
  tags,
  summary: 'Cancel a campaign',
  description:
    'Possible only while the campaign is SCHEDULED, SENDING or PAUSED. A campaign that has sent nothing becomes a DRAFT again. Otherwise it becomes CANCELLED, and emails that were sent stay in the history.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 200: versionedResponse(CampaignDone), ...errorResponses('CONFLICT') },
});

const pauseRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/pause',
  operationId: 'pauseCampaign',
  unknownFields: 'refuse',
  tags,
  summary: 'Pause a campaign',
  description:
    'Possible only while the campaign is SENDING. The remaining recipients wait while the campaign is PAUSED. Emails whose transmission to the provider has started are still sent. Pausing a PAUSED campaign changes nothing.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 200: versionedResponse(CampaignDone), ...errorResponses('CONFLICT') },
});

const resumeRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/resume',
  operationId: 'resumeCampaign',
  unknownFields: 'refuse',
  tags,
  summary: 'Resume a campaign',
  description: 'Possible only while the campaign is PAUSED. Resuming a SENDING campaign changes nothing.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 200: versionedResponse(CampaignDone), ...errorResponses('CONFLICT') },
});

const winnerRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/winner',
  operationId: 'chooseCampaignWinner',
  unknownFields: 'refuse',
  tags,
  summary: 'Choose the winning variant',
  description:
    'Possible while the campaign is SENDING or PAUSED and its test has no winner yet. The waiting recipients get this variant immediately. Returns 409 if the test already has a winner.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(ChooseWinner) },
  responses: { 200: versionedResponse(CampaignDone), ...errorResponses('CONFLICT') },
});

const testRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/test',
  operationId: 'testCampaign',
  unknownFields: 'refuse',
  tags,
  summary: 'Send a test email of a campaign',
  description:
    'Sends one email with the content of the campaign. Its subject starts with "[TEST] ". If a contact has the address, the email is rendered for this contact. `variant` selects the content of a variant.',
  security: allowScopes('campaigns:send'),
  request: { params: IdParams, body: jsonBody(TestCampaign) },
  responses: { 200: jsonResponse(TestSent), ...errorResponses('DOMAIN_NOT_VERIFIED', 'BILLING_LIMIT_EXCEEDED') },
});

/**
 * Registers the operations that send, pause, resume and cancel a campaign, choose its winner, and send a test email.
 */
export function registerCampaignSendingRoutes(app: App, { db, outbox }: Deps): void {
  app.openapi(sendRoute, async (c) => {
    const { projectId, mode } = c.var;
    const { scheduledFor: requestedTime, scheduledAt, ...hour } = c.req.valid('json');
    const scheduledFor = assertFuture(resolveAliases({ scheduledFor: requestedTime, scheduledAt }) ?? null);
    const ref = { projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    const sent = await inTransaction(db, async (trx) => {
      const timing = mergeTiming(hour, (await lockCampaign(trx, ref, read)).timing);
      const at = computeStart({ scheduledFor, sendAtLocal: timing.sendAtLocal });
      if (hour.latePolicy === 'SKIP' && timing.sendAtLocal === null)
        throw createFieldError(
          'latePolicy',
          'Applies only with sendAtLocal. Send sendAtLocal too, or omit latePolicy.',
          'custom',
        );
      return startCampaign(trx, { ...ref, at, mode, timing });
    });
    outbox.wake(sent.outbox);
    setETag(c, sent.campaign);
    const message = formatSentMessage(sent.campaign);
    return c.json({ success: true as const, data: toCampaignResponse(sent.campaign), message }, 200);
  });

  app.openapi(cancelRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    const { campaign, outbox: queued } = await inTransaction(db, (trx) => cancelCampaign(trx, { ...ref, read }));
    outbox.wake(queued);
    const message =
      campaign.status === 'DRAFT'
        ? 'Nothing was sent: the campaign is a draft again.'
        : 'The campaign is cancelled. Emails that were sent stay in the history.';
    const data = await readCampaignResponse(db, { projectId: ref.projectId, campaign });
    setETag(c, campaign);
    return c.json({ success: true as const, data, message }, 200);
  });

  app.openapi(pauseRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    const { campaign, outbox: queued } = await inTransaction(db, (trx) =>
      pauseCampaign(trx, { ...ref, reason: 'requested', read }),
    );
    outbox.wake(queued);
    const message = 'The campaign is paused.';
    const data = await readCampaignResponse(db, { projectId: ref.projectId, campaign });
    setETag(c, campaign);
    return c.json({ success: true as const, data, message }, 200);
  });

  app.openapi(resumeRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    const { campaign, outbox: queued } = await inTransaction(db, (trx) => resumeCampaign(trx, { ...ref, read }));
    outbox.wake(queued);
    const message = 'The campaign is being sent.';
    const data = await readCampaignResponse(db, { projectId: ref.projectId, campaign });
    setETag(c, campaign);
    return c.json({ success: true as const, data, message }, 200);
  });

  app.openapi(winnerRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    const { variant } = c.req.valid('json');
    const { campaign, outbox: queued } = await inTransaction(db, (trx) => chooseWinner(trx, { ...ref, variant, read }));
    outbox.wake(queued);
    const message = `The remaining recipients get ${variant}.`;
    const data = await readCampaignResponse(db, { projectId: ref.projectId, campaign });
    setETag(c, campaign);
    return c.json({ success: true as const, data, message }, 200);
  });

  app.openapi(testRoute, async (c) => {
    const { projectId, mode, project } = c.var;
    const { email, variant } = c.req.valid('json');
    const campaign = await getCampaign(db, { projectId, id: c.req.valid('param').id });
    const text = findVariantText(campaign, variant ?? undefined);
    const { emailId, outbox: queued } = await inTransaction(db, (trx) =>
      insertTestEmail(trx, { projectId, text, email, mode, monthlyEmailLimit: project.monthlyEmailLimit }),
    );
    outbox.wake(queued);
    const message = `A test email is on its way to ${email}.`;
    return c.json({ success: true as const, data: { emailId, email }, message }, 200);
  });
}

function formatSentMessage({ timing: { sendAtLocal }, status, scheduledAt }: Campaign): string {
  if (sendAtLocal) return `The campaign is sent to each recipient at ${sendAtLocal} local time.`;
  const at = status === 'SCHEDULED' ? scheduledAt : null;
  return at ? `The campaign is scheduled for ${at.toISOString()}.` : 'The campaign is being sent.';
}
