import { createRoute, z } from '@hono/zod-openapi';
import { cancelCampaign, pauseCampaign, resumeCampaign, startCampaign } from '../../../db/campaign-lifecycle.ts';
import { countCampaign, countCampaigns } from '../../../db/campaign-stats.ts';
import { insertTestMail } from '../../../db/campaign-test-mail.ts';
import {
  type Campaign,
  deleteCampaign,
  duplicateCampaign,
  getCampaign,
  insertCampaign,
  listCampaigns,
  lockCampaign,
  updateCampaign,
} from '../../../db/campaigns.ts';
import type { Db } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { CAMPAIGN_STATUSES } from '../../../domain/campaign.ts';
import { AppError } from '../../../domain/errors.ts';
import { errors, json, noContent, ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IdParams, pageQuery } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';
import { refuseBadContent } from '../templates/content-check.ts';
import {
  CampaignDone,
  CampaignList,
  CampaignRecord,
  CampaignStats,
  campaignAnswer,
  listedAnswer,
  statsAnswer,
  TestSent,
} from './answer.ts';
import { CreateCampaign, campaignContent, LIST_DEFAULT, PutCampaign, SendCampaign, TestCampaign } from './input.ts';

const tags = ['Campaigns'];

const listRoute = createRoute({
  method: 'get',
  path: '/campaigns',
  operationId: 'listCampaigns',
  tags,
  summary: 'List campaigns',
  description:
    'Newest first, by page number or by cursor. A page is 4 MB at most: campaigns that come on top are without body and conditions, and ' +
    '`truncated`.',
  security: scopes('campaigns:view'),
  request: { query: pageQuery(LIST_DEFAULT).extend({ status: z.enum(CAMPAIGN_STATUSES).optional() }) },
  responses: { 200: ok(CampaignList) },
});

const createCampaignRoute = createRoute({
  method: 'post',
  path: '/campaigns',
  operationId: 'createCampaign',
  tags,
  summary: 'Create a campaign',
  description:
    'A DRAFT. Subject and body are Liquid; one that does not parse is 422 with line and column in `details`.',
  security: scopes('campaigns:edit'),
  request: { body: json(CreateCampaign) },
  responses: { 200: ok(CampaignDone), ...errors('DOMAIN_NOT_VERIFIED', 'NOT_FOUND') },
});

const getRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}',
  operationId: 'getCampaign',
  tags,
  summary: 'Get a campaign',
  description: 'The campaign with its counters.',
  security: scopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: ok(CampaignRecord) },
});

const putRoute = createRoute({
  method: 'put',
  path: '/campaigns/{id}',
  operationId: 'updateCampaign',
  tags,
  summary: 'Replace the contents of a campaign',
  description: 'In DRAFT and SCHEDULED only. Fields that are not given stay as they are; null clears an optional one.',
  security: scopes('campaigns:edit'),
  request: { params: IdParams, body: json(PutCampaign) },
  responses: { 200: ok(CampaignRecord), ...errors('DOMAIN_NOT_VERIFIED', 'BAD_REQUEST', 'CONFLICT') },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/campaigns/{id}',
  operationId: 'deleteCampaign',
  tags,
  summary: 'Delete a campaign',
  description: '409 in SCHEDULED, SENDING and PAUSED: cancel it first. What it sent stays in the history of emails.',
  security: scopes('campaigns:edit'),
  request: { params: IdParams },
  responses: { 204: noContent('Deleted'), ...errors('CONFLICT') },
});

const duplicateRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/duplicate',
  operationId: 'duplicateCampaign',
  tags,
  summary: 'Copy a campaign',
  description: 'Answers a new DRAFT of the same contents, named "… (Copy)".',
  security: scopes('campaigns:edit'),
  request: { params: IdParams },
  responses: { 200: ok(CampaignDone) },
});

const sendRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/send',
  operationId: 'sendCampaign',
  tags,
  summary: 'Send a campaign now, or at a time',
  description:
    'To subscribed contacts only, decided when each message is about to leave; each contact gets it once. A SCHEDULED campaign is ' +
    'moved to the new time. 400 for a time that is past or an empty audience, 409 in any other state.',
  security: scopes('campaigns:send'),
  request: { params: IdParams, body: json(SendCampaign, { optional: true }) },
  responses: {
    200: ok(CampaignDone),
    ...errors('BAD_REQUEST', 'DOMAIN_NOT_VERIFIED', 'CONFLICT', 'BILLING_LIMIT_EXCEEDED'),
  },
});

const cancelRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/cancel',
  operationId: 'cancelCampaign',
  tags,
  summary: 'Cancel a campaign',
  description:
    'In SCHEDULED, SENDING and PAUSED. What has not sent anything is a DRAFT again; otherwise it is CANCELLED, and what was handed over stays recorded.',
  security: scopes('campaigns:send'),
  request: { params: IdParams },
  responses: { 200: ok(CampaignDone), ...errors('CONFLICT') },
});

const pauseRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/pause',
  operationId: 'pauseCampaign',
  tags,
  summary: 'Pause a campaign',
  description:
    'From SENDING. Whom it has not reached waits, for as long as it is PAUSED; what is on its way to the provider still leaves. Of a PAUSED one it changes nothing.',
  security: scopes('campaigns:send'),
  request: { params: IdParams },
  responses: { 200: ok(CampaignDone), ...errors('CONFLICT') },
});

const resumeRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/resume',
  operationId: 'resumeCampaign',
  tags,
  summary: 'Let a paused campaign go on',
  description: 'From PAUSED. Of a SENDING one it changes nothing.',
  security: scopes('campaigns:send'),
  request: { params: IdParams },
  responses: { 200: ok(CampaignDone), ...errors('CONFLICT') },
});

const testRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/test',
  operationId: 'testCampaign',
  tags,
  summary: 'Send one test mail of a campaign',
  description: 'Its subject begins with "[TEST] ". It is rendered with the contact of the address, if it is one.',
  security: scopes('campaigns:send'),
  request: { params: IdParams, body: json(TestCampaign) },
  responses: { 200: ok(TestSent), ...errors('DOMAIN_NOT_VERIFIED', 'BILLING_LIMIT_EXCEEDED') },
});

const statsRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}/stats',
  operationId: 'getCampaignStats',
  tags,
  summary: 'Count what became of a campaign',
  description: 'One snapshot: `pending + sent + failed + skipped = total` at every moment. Rates are from 0 to 100.',
  security: scopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: ok(CampaignStats) },
});

export function campaignRoutes(app: App, { db, reads, compute, lifecycle }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const { limit, pageSize, ...query } = c.req.valid('query');
    const { projectId } = c.var;
    const { items, ...page } = await listCampaigns(reads, { projectId, ...query, pageSize: limit ?? pageSize });
    const counts = await countCampaigns(reads, { projectId, ids: items.map((campaign) => campaign.id) });
    return c.json(
      { campaigns: items.map((campaign) => listedAnswer(campaign, counts.get(campaign.id))), ...page },
      200,
    );
  });

  app.openapi(createCampaignRoute, async (c) => {
    const { projectId } = c.var;
    const content = campaignContent(c.req.valid('json'));
    await refuseBadContent(compute, projectId, { ...content, type: 'MARKETING' });
    const campaign = await inTransaction(db, (trx) => insertCampaign(trx, { projectId, content }));
    return c.json({ success: true as const, data: campaignAnswer(campaign) }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    return c.json(await counted(db, ref.projectId, await getCampaign(db, ref)), 200);
  });

  app.openapi(putRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { scheduledFor, ...changes } = c.req.valid('json');
    // Before anything is locked: a trial rendering waits for its turn. What the request leaves out was found good when it was saved.
    await refuseBadContent(compute, ref.projectId, {
      ...campaignContent(changes, await getCampaign(db, ref)),
      type: 'MARKETING',
    });
    const changed = await inTransaction(db, async (trx) => {
      const current = await lockCampaign(trx, ref);
      const content = campaignContent(changes, current);
      const campaign = await updateCampaign(trx, { ...ref, content });
      if (!scheduledFor || campaign.status !== 'SCHEDULED') return { campaign, outbox: [] };
      return startCampaign(trx, { ...ref, at: inFuture(scheduledFor) });
    });
    lifecycle.dispatch(changed.outbox);
    return c.json(campaignAnswer(changed.campaign), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await inTransaction(db, (trx) => deleteCampaign(trx, ref));
    return c.body(null, 204);
  });

  app.openapi(duplicateRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const campaign = await inTransaction(db, (trx) => duplicateCampaign(trx, ref));
    return c.json({ success: true as const, data: campaignAnswer(campaign), message: 'The copy is a draft.' }, 200);
  });

  app.openapi(sendRoute, async (c) => {
    const { projectId, mode } = c.var;
    const { scheduledFor, scheduledAt } = c.req.valid('json');
    const at = inFuture(scheduledFor ?? scheduledAt ?? null);
    const ref = { projectId, id: c.req.valid('param').id };
    const sent = await inTransaction(db, (trx) => startCampaign(trx, { ...ref, at, mode }));
    lifecycle.dispatch(sent.outbox);
    const message = at ? `The campaign is scheduled for ${at.toISOString()}.` : 'The campaign is being sent.';
    return c.json({ success: true as const, data: campaignAnswer(sent.campaign), message }, 200);
  });

  app.openapi(cancelRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { campaign, outbox } = await inTransaction(db, (trx) => cancelCampaign(trx, ref));
    lifecycle.dispatch(outbox);
    const message =
      campaign.status === 'DRAFT'
        ? 'Nothing was sent: the campaign is a draft again.'
        : 'The campaign is cancelled; what was handed over stays recorded.';
    return c.json({ success: true as const, data: await counted(db, ref.projectId, campaign), message }, 200);
  });

  app.openapi(pauseRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { campaign, outbox } = await inTransaction(db, (trx) => pauseCampaign(trx, { ...ref, reason: 'requested' }));
    lifecycle.dispatch(outbox);
    const message = 'The campaign is paused.';
    return c.json({ success: true as const, data: await counted(db, ref.projectId, campaign), message }, 200);
  });

  app.openapi(resumeRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { campaign, outbox } = await inTransaction(db, (trx) => resumeCampaign(trx, ref));
    lifecycle.dispatch(outbox);
    const message = 'The campaign is being sent.';
    return c.json({ success: true as const, data: await counted(db, ref.projectId, campaign), message }, 200);
  });

  app.openapi(testRoute, async (c) => {
    const { projectId, mode, project } = c.var;
    const { email } = c.req.valid('json');
    const campaign = await getCampaign(db, { projectId, id: c.req.valid('param').id });
    const { emailId, outbox } = await inTransaction(db, (trx) =>
      insertTestMail(trx, { projectId, campaign, email, mode, monthlyEmailLimit: project.monthlyEmailLimit }),
    );
    lifecycle.dispatch(outbox);
    const message = `A test mail is on its way to ${email}.`;
    return c.json({ success: true as const, data: { emailId, email }, message }, 200);
  });

  app.openapi(statsRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await getCampaign(db, ref);
    return c.json(statsAnswer(await countCampaign(reads, ref)), 200);
  });
}

async function counted(db: Db, projectId: string, campaign: Campaign) {
  return campaignAnswer(campaign, await countCampaign(db, { projectId, id: campaign.id }));
}

/** @throws AppError BAD_REQUEST for a time that is past */
function inFuture(at: Date | null): Date | null {
  if (at && at.getTime() <= Date.now()) {
    throw new AppError('BAD_REQUEST', {
      message: 'scheduledFor is in the past.',
      suggestion: 'Give a time to come, or leave it out to send now.',
      details: { scheduledFor: at.toISOString() },
    });
  }
  return at;
}
