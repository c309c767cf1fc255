import { createRoute, z } from '@hono/zod-openapi';
import {
  deleteCampaign,
  duplicateCampaign,
  getCampaign,
  insertCampaign,
  listCampaigns,
  lockCampaign,
  updateCampaign,
} from '../../../db/campaigns/campaigns.ts';
import { findNextOpenings } from '../../../db/campaigns/chunk-clock.ts';
import { countRecipientsByCampaign, readStats } from '../../../db/campaigns/stats.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { startCampaign } from '../../../engine/campaigns/lifecycle.ts';
import { CAMPAIGN_STATUSES } from '../../../rules/campaigns/campaign.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { resolveAliases, resolveQueryAliases } from '../../http/aliases.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { IfMatch, readVersion, setETag, versionedResponse } from '../../http/record-version.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { IdParams, NameSearch, pageQuery } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { createStoredFields } from '../../http/stored-fields.ts';
import { CreateCampaign, LIST_DEFAULT, mergeCampaignContent, PutCampaign } from './input.ts';
import {
  CampaignDone,
  CampaignList,
  CampaignRecord,
  CampaignStats,
  readCampaignResponse,
  toCampaignResponse,
  toListedResponse,
  toStatsResponse,
} from './response.ts';
import { findNewStart, SCHEDULED_BY_SENDING } from './timing.ts';
import { refuseBadVariants } from './variants-input.ts';
import { toVariantStats } from './variants-stats.ts';

const tags = ['Campaigns'];

const listRoute = createRoute({
  method: 'get',
  path: '/campaigns',
  operationId: 'listCampaigns',
  tags,
  summary: 'List campaigns',
  description:
    'Lists campaigns, newest first, by page number or by cursor. A page is at most 4 MB. When it would become larger, the remaining campaigns are returned without body and conditions, and have `truncated`.',
  security: allowScopes('campaigns:view'),
  request: {
    query: pageQuery(LIST_DEFAULT).extend({ status: z.enum(CAMPAIGN_STATUSES).optional(), search: NameSearch }),
  },
  responses: { 200: jsonResponse(CampaignList) },
});

const createCampaignRoute = createRoute({
  method: 'post',
  path: '/campaigns',
  operationId: 'createCampaign',
  unknownFields: 'refuse',
  record: CampaignRecord,
  setElsewhere: { scheduledFor: SCHEDULED_BY_SENDING, scheduledAt: SCHEDULED_BY_SENDING },
  tags,
  summary: 'Create a campaign',
  description:
    'Creates a campaign with the status DRAFT. To send or schedule it, call `POST /campaigns/{id}/send`. Subject and body are Liquid templates. If a template cannot be parsed, the response is 422, with line and column in `details`.',
  security: allowScopes('campaigns:edit'),
  request: { body: jsonBody(CreateCampaign) },
  responses: {
    200: versionedResponse(CampaignDone),
    ...errorResponses('DOMAIN_NOT_VERIFIED', 'NOT_FOUND', 'CONFLICT'),
  },
});

const getRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}',
  operationId: 'getCampaign',
  tags,
  summary: 'Get a campaign',
  description: 'Returns the campaign with its counters.',
  security: allowScopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: versionedResponse(CampaignRecord) },
});

const putRoute = createRoute({
  method: 'put',
  path: '/campaigns/{id}',
  operationId: 'updateCampaign',
  unknownFields: 'refuse',
  record: CampaignRecord,
  tags,
  summary: 'Update a campaign',
  description:
    'Possible only while the campaign is DRAFT or SCHEDULED. Omitted fields do not change; null clears an optional field.',
  security: allowScopes('campaigns:edit'),
  stored: createStoredFields(({ db }, ref) => getCampaign(db, ref).then((campaign) => toCampaignResponse(campaign))),
  request: { params: IdParams, headers: IfMatch, body: jsonBody(PutCampaign) },
  responses: {
    200: versionedResponse(CampaignRecord),
    ...errorResponses('DOMAIN_NOT_VERIFIED', 'BAD_REQUEST', 'CONFLICT'),
  },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/campaigns/{id}',
  operationId: 'deleteCampaign',
  tags,
  summary: 'Delete a campaign',
  description:
    'Returns 409 while the campaign is SCHEDULED, SENDING or PAUSED: cancel the campaign first. Emails that were sent stay in the history.',
  security: allowScopes('campaigns:edit'),
  request: { params: IdParams, headers: IfMatch },
  responses: { 204: emptyResponse('Deleted'), ...errorResponses('CONFLICT') },
});

const duplicateRoute = createRoute({
  method: 'post',
  path: '/campaigns/{id}/duplicate',
  operationId: 'duplicateCampaign',
  tags,
  summary: 'Duplicate a campaign',
  description: 'Returns a new DRAFT with the same content, named "… (Copy)".',
  security: allowScopes('campaigns:edit'),
  request: { params: IdParams },
  responses: { 200: versionedResponse(CampaignDone) },
});

const statsRoute = createRoute({
  method: 'get',
  path: '/campaigns/{id}/stats',
  operationId: 'getCampaignStats',
  tags,
  summary: 'Get the statistics of a campaign',
  description:
    'All counts are read at the same moment, so `pending + sent + failed + skipped = total`. Rates are from 0 to 100, confidence intervals from 0 to 1.',
  security: allowScopes('campaigns:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(CampaignStats) },
});

/**
 * Registers the operations on the content, the audience and the statistics of campaigns.
 * `registerCampaignSendingRoutes` registers the operations that start and stop campaigns.
 */
export function registerCampaignRoutes(app: App, { db, reads, compute, outbox, config }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const { projectId } = c.var;
    const pageSize = resolveQueryAliases({ pageSize: query.pageSize, limit: query.limit }) ?? LIST_DEFAULT;
    const { items, ...page } = await listCampaigns(reads, { projectId, ...query, pageSize });
    const ids = items.map((campaign) => campaign.id);
    const counts = await countRecipientsByCampaign(reads, { projectId, ids });
    const openings = await findNextOpenings(reads, { projectId, ids });
    const campaigns = items.map((item) => toListedResponse(item, counts.get(item.id), openings.get(item.id)));
    return c.json({ campaigns, ...page }, 200);
  });

  app.openapi(createCampaignRoute, async (c) => {
    const { projectId } = c.var;
    const fields = c.req.valid('json');
    const content = mergeCampaignContent(fields);
    await refuseBadVariants(compute, { projectId, content });
    const campaign = await inTransaction(db, (trx) => insertCampaign(trx, { projectId, content, slug: fields.slug }));
    setETag(c, campaign);
    return c.json({ success: true as const, data: toCampaignResponse(campaign) }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const campaign = await getCampaign(db, ref);
    setETag(c, campaign);
    return c.json(await readCampaignResponse(db, { projectId: ref.projectId, campaign }), 200);
  });

  app.openapi(putRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const { scheduledFor: requestedTime, scheduledAt, ...changes } = c.req.valid('json');
    const read = readVersion(c, changes);
    // Checks the content before the transaction takes locks, because the check renders the content, and renderings of a
    // project wait for its processor budget. Unchanged content is not checked, because it was checked when it was
    // saved.
    const stored = await getCampaign(db, ref);
    const content = mergeCampaignContent(changes, stored);
    await refuseBadVariants(compute, { projectId: ref.projectId, content, stored });
    const result = await inTransaction(db, async (trx) => {
      const current = await lockCampaign(trx, ref, read);
      const scheduledFor = resolveAliases({ scheduledFor: requestedTime, scheduledAt }, current.scheduledAt);
      if (current.status === 'DRAFT' && scheduledFor) throw createFieldError('scheduledFor', SCHEDULED_BY_SENDING);
      const content = mergeCampaignContent(changes, current);
      const campaign = await updateCampaign(trx, { ...ref, content, slug: changes.slug });
      if (campaign.status !== 'SCHEDULED') return { campaign, outbox: [] };
      const at = findNewStart({ scheduledFor, before: current.timing, after: campaign.timing });
      return at === undefined ? { campaign, outbox: [] } : startCampaign(trx, { ...ref, at });
    });
    outbox.wake(result.outbox);
    setETag(c, result.campaign);
    return c.json(toCampaignResponse(result.campaign), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const read = readVersion(c);
    await inTransaction(db, (trx) => deleteCampaign(trx, { ...ref, read }));
    return c.body(null, 204);
  });

  app.openapi(duplicateRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const campaign = await inTransaction(db, (trx) => duplicateCampaign(trx, ref));
    setETag(c, campaign);
    return c.json({ success: true as const, data: toCampaignResponse(campaign), message: 'The copy is a draft.' }, 200);
  });

  app.openapi(statsRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const campaign = await getCampaign(db, ref);
    const { counts, detail, figures } = await readStats(reads, { ...ref, startedAt: campaign.startedAt });
    return c.json(
      { ...toStatsResponse(counts, detail, config.email.reportsDeliveries), ...toVariantStats(campaign, figures) },
      200,
    );
  });
}
