import { createRoute, z } from '@hono/zod-openapi';
import { truncateLists } from '../../../db/page-budget.ts';
import { findActorNames } from '../../../db/projects/actors.ts';
import { explainSegment } from '../../../db/segments/explain.ts';
import { HISTORY_TOTAL_MAX, listSegmentHistory, SEGMENT_CHANGES } from '../../../db/segments/history.ts';
import { previewCondition } from '../../../db/segments/preview.ts';
import { getSegment } from '../../../db/segments/segments.ts';
import { getSegmentUsage } from '../../../db/segments/usage.ts';
import { CAMPAIGN_STATUSES } from '../../../rules/campaigns/campaign.ts';
import { createQueryError } from '../../../rules/errors.ts';
import { OPERATORS, UNITS } from '../../../rules/filters/fields.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import {
  cursorList,
  cursorQuery,
  EXAMPLE_ID,
  Id,
  IdParams,
  Instant,
  NamedUse,
  TruncatedLists,
} from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { CONTACT_EXAMPLE, ContactRecord, toContactResponse } from '../contacts/response.ts';
import { PreviewCondition, readRequestedCondition } from './input.ts';

const Preview = z
  .object({
    count: z.number().int(),
    sample: z.array(ContactRecord).openapi({ description: 'The newest 10 matching contacts' }),
  })
  .openapi('SegmentPreview', { example: { count: 1, sample: [CONTACT_EXAMPLE] } });

const previewRoute = createRoute({
  method: 'post',
  path: '/segments/preview',
  operationId: 'previewSegment',
  idempotency: 'none',
  tags: ['Segments'],
  summary: 'Count the contacts that match a condition',
  description: 'Returns how many contacts match the condition now, and the newest 10 of them. Nothing is stored.',
  security: allowScopes('segments:view'),
  request: { body: jsonBody(PreviewCondition) },
  responses: { 200: jsonResponse(Preview), ...errorResponses('CONFLICT') },
});

const ExplainedFilter = z.object({
  path: z.string().openapi({ description: 'Path of the filter in the condition; `members` for a STATIC segment' }),
  field: z.string(),
  operator: z.enum(OPERATORS),
  value: z.unknown().optional(),
  unit: z.enum(UNITS).optional(),
  contactValue: z.unknown().openapi({
    description:
      'The value that the contact has in `field`. For a filter on events or emails, the time of the latest event or email. For a filter on a segment, whether the contact is a member. Null if the contact has no value.',
  }),
  holds: z.boolean(),
});

const Explanation = z
  .object({
    segmentId: Id,
    contactId: Id,
    type: z.enum(['DYNAMIC', 'STATIC']),
    holds: z.boolean().openapi({ description: 'Whether the contact is in the segment now' }),
    member: z.boolean().nullable().openapi({
      description: 'Whether the contact is a stored member of a STATIC or tracked segment. Null for other segments.',
    }),
    filters: z.array(ExplainedFilter),
    truncated: TruncatedLists,
  })
  .openapi('SegmentExplanation', {
    example: {
      segmentId: EXAMPLE_ID,
      contactId: EXAMPLE_ID,
      type: 'DYNAMIC',
      holds: true,
      member: null,
      filters: [
        {
          path: 'groups.0.filters.0',
          field: 'data.plan',
          operator: 'equals',
          value: 'pro',
          contactValue: 'pro',
          holds: true,
        },
      ],
    },
  });

const explainRoute = createRoute({
  method: 'get',
  path: '/segments/{id}/explain',
  operationId: 'explainSegment',
  tags: ['Segments'],
  summary: 'Explain why a contact is in a segment',
  description:
    "Returns each filter with the contact's value, and whether the contact matches the filter. For a STATIC segment, the list has one entry: whether the contact is a member.",
  security: allowScopes('segments:view'),
  request: { params: IdParams, query: z.object({ contactId: Id.optional() }) },
  responses: { 200: jsonResponse(Explanation), ...errorResponses('CONFLICT') },
});

const HISTORY_DEFAULT = 50;

const Change = z
  .object({
    id: Id.openapi({
      description:
        'Id of the change. For a tracked segment, this is also the id of the event `segment.<slug>.entry` or `segment.<slug>.exit`.',
    }),
    change: z.enum(SEGMENT_CHANGES),
    contactId: Id.nullable().openapi({ description: 'Null if the contact has been erased' }),
    email: z.string().nullable(),
    actor: z.string().nullable().openapi({
      description:
        'The user or key that added the contact to a STATIC segment, or removed it: `user:<id>` or `key:<id>`. Null for a tracked segment.',
    }),
    actorName: z
      .string()
      .nullable()
      .openapi({ description: 'Email address of the user, or name of the key. Null if the actor has no name.' }),
    at: Instant,
  })
  .openapi('SegmentChange', {
    example: {
      id: EXAMPLE_ID,
      change: 'entry',
      contactId: EXAMPLE_ID,
      email: 'ada@example.com',
      actor: null,
      actorName: null,
      at: '2026-01-01T12:00:00.000Z',
    },
  });

const historyRoute = createRoute({
  method: 'get',
  path: '/segments/{id}/history',
  operationId: 'listSegmentHistory',
  tags: ['Segments'],
  summary: 'List who entered and left a segment',
  description: `Lists the contacts that entered and left a tracked segment, newest first, also under earlier slugs of the segment. Each computation of the segment records these changes as events, so the list has no changes from before tracking was enabled, and no changes with deleted events. For a STATIC segment, lists each addition and removal of a contact with its actor, but not for contacts that were erased. \`total\` is counted up to ${HISTORY_TOTAL_MAX}.`,
  security: allowScopes('segments:view'),
  request: { params: IdParams, query: cursorQuery(HISTORY_DEFAULT) },
  responses: { 200: jsonResponse(cursorList(Change)) },
});

const Usage = z
  .object({
    usedInSegments: z.array(NamedUse),
    usedInCampaigns: z.array(NamedUse.extend({ status: z.enum(CAMPAIGN_STATUSES) })),
    usedInWorkflows: z.array(NamedUse),
    truncated: TruncatedLists,
    canDelete: z
      .boolean()
      .openapi({ description: 'False while a SCHEDULED, SENDING or PAUSED campaign uses the segment' }),
  })
  .openapi('SegmentUsage', {
    example: {
      usedInSegments: [],
      usedInCampaigns: [{ id: EXAMPLE_ID, name: 'Spring sale', status: 'DRAFT' }],
      usedInWorkflows: [],
      canDelete: true,
    },
  });

const usageRoute = createRoute({
  method: 'get',
  path: '/segments/{id}/usage',
  operationId: 'getSegmentUsage',
  tags: ['Segments'],
  summary: 'List the uses of a segment',
  description:
    'Lists segments whose condition refers to this segment, and unfinished campaigns that use it directly or in a filter. Also lists workflows that use its entry or exit events, or whose conditions refer to it.',
  security: allowScopes('segments:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(Usage) },
});

/** Registers read-only operations on a segment, or on a condition that is not saved yet. */
export function registerSegmentReadRoutes(app: App, { reads, compute }: Deps): void {
  app.openapi(previewRoute, async (c) => {
    const { projectId } = c.var;
    const condition = readRequestedCondition(c.req.valid('json'));
    if (!condition) throw new Error('a preview without a condition passed its check');
    const work = { projectId, kind: 'segments.preview' };
    const { count, sample } = await compute.runLargeRead(work, () => previewCondition(reads, { projectId, condition }));
    return c.json({ count, sample: sample.map(toContactResponse) }, 200);
  });

  app.openapi(explainRoute, async (c) => {
    const { projectId } = c.var;
    const { contactId } = c.req.valid('query');
    const segment = await getSegment(reads, { projectId, id: c.req.valid('param').id });
    // Checks the parameter after the segment, so that the response for a segment of another project is always 404.
    if (contactId === undefined)
      throw createQueryError([{ field: 'contactId', message: 'Required', code: 'invalid_type' }]);
    const work = { projectId, kind: 'segments.explain' };
    const { filters, ...explanation } = await compute.runLargeRead(work, () =>
      explainSegment(reads, segment, contactId),
    );
    const { id: segmentId, type } = segment;
    return c.json({ segmentId, contactId, type, ...explanation, ...truncateLists({ filters }) }, 200);
  });

  app.openapi(historyRoute, async (c) => {
    const { projectId } = c.var;
    const { id, type } = await getSegment(reads, { projectId, id: c.req.valid('param').id });
    const { items, ...page } = await listSegmentHistory(reads, { projectId, id, type, ...c.req.valid('query') });
    const names = await findActorNames(reads, { projectId, actors: items.map(({ actor }) => actor) });
    const data = items.map((item) => ({
      ...item,
      actorName: names.get(item.actor ?? '') ?? null,
      at: item.at.toISOString(),
    }));
    return c.json({ ...page, data }, 200);
  });

  app.openapi(usageRoute, async (c) => {
    const segment = await getSegment(reads, { projectId: c.var.projectId, id: c.req.valid('param').id });
    const { canDelete, ...uses } = await getSegmentUsage(reads, segment);
    return c.json({ ...truncateLists(uses), canDelete }, 200);
  });
}
