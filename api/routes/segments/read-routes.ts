import { createRoute, z } from '@hono/zod-openapi';
import { fitLists } from '../../../db/page-budget.ts';
import { nameActors } from '../../../db/projects/actors.ts';
import { explainSegment } from '../../../db/segments/explain.ts';
import { HISTORY_TOTAL_MAX, listSegmentHistory, SEGMENT_CHANGES } from '../../../db/segments/history.ts';
import { previewCondition } from '../../../db/segments/preview.ts';
import { getSegment } from '../../../db/segments/segments.ts';
import { getSegmentUsage } from '../../../db/segments/usage.ts';
import { CAMPAIGN_STATUSES } from '../../../rules/campaigns/campaign.ts';
import { queryErrors } from '../../../rules/errors.ts';
import { OPERATORS, UNITS } from '../../../rules/filters/fields.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errors, json, ok } from '../../http/responses.ts';
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
import { scopes } from '../../http/security.ts';
import { CONTACT_EXAMPLE, ContactRecord, contactResponse } from '../contacts/response.ts';
import { conditionFromRequest, PreviewCondition } from './input.ts';

const Preview = z
  .object({ count: z.number().int(), sample: z.array(ContactRecord).openapi({ description: 'The newest 10' }) })
  .openapi('SegmentPreview', { example: { count: 1, sample: [CONTACT_EXAMPLE] } });

const previewRoute = createRoute({
  method: 'post',
  path: '/segments/preview',
  operationId: 'previewSegment',
  idempotency: 'none',
  tags: ['Segments'],
  summary: 'Count the contacts that match a condition',
  description: 'Returns how many contacts match the condition now, and the newest 10 of them. Nothing is stored.',
  security: scopes('segments:view'),
  request: { body: json(PreviewCondition) },
  responses: { 200: ok(Preview), ...errors('CONFLICT') },
});

const ExplainedFilter = z.object({
  path: z.string().openapi({ description: 'Path of the filter in the condition; `members` for a STATIC segment' }),
  field: z.string(),
  operator: z.enum(OPERATORS),
  value: z.unknown().optional(),
  unit: z.enum(UNITS).optional(),
  contactValue: z.unknown().openapi({
    description:
      "The contact's value of the field. For an event or email filter, the time of the last one. For a segment filter, whether the contact is a member. Null without a value.",
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
    "Returns each filter with the contact's value and whether it matches. A STATIC segment has one filter: its membership.",
  security: scopes('segments:view'),
  request: { params: IdParams, query: z.object({ contactId: Id.optional() }) },
  responses: { 200: ok(Explanation), ...errors('CONFLICT') },
});

const HISTORY_DEFAULT = 50;

const Change = z
  .object({
    id: Id.openapi({
      description: 'Id of the recorded event `segment.<slug>.entry` or `.exit`. A STATIC segment has no events.',
    }),
    change: z.enum(SEGMENT_CHANGES),
    contactId: Id.nullable().openapi({ description: 'Null if the contact was erased since' }),
    email: z.string().nullable(),
    actor: z.string().nullable().openapi({
      description: 'Actor of the change for a STATIC segment: `user:<id>` or `key:<id>`. Null for a tracked segment.',
    }),
    actorName: z
      .string()
      .nullable()
      .openapi({ description: 'Address of a user, or name of a key. Null without a name.' }),
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
  description: `Newest first, as long as membership was tracked and events are kept: each computation records the contacts that entered and left, under any earlier slug. For a STATIC segment, lists added and removed contacts with the actor, but not erasures. \`total\` is counted up to ${HISTORY_TOTAL_MAX}.`,
  security: scopes('segments:view'),
  request: { params: IdParams, query: cursorQuery(HISTORY_DEFAULT) },
  responses: { 200: ok(cursorList(Change)) },
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
    'Lists segments whose condition refers to it, and unfinished campaigns that use it directly or in a filter. Also lists workflows that its entry or exit starts, ends or resumes, or whose conditions refer to it.',
  security: scopes('segments:view'),
  request: { params: IdParams },
  responses: { 200: ok(Usage) },
});

/** Registers read-only operations on a segment, or on a condition that is not saved yet. */
export function segmentReadRoutes(app: App, { reads, compute }: Deps): void {
  app.openapi(previewRoute, async (c) => {
    const { projectId } = c.var;
    const condition = conditionFromRequest(c.req.valid('json'));
    if (!condition) throw new Error('a preview without a condition passed its check');
    const work = { projectId, kind: 'segments.preview' };
    const { count, sample } = await compute.page(work, () => previewCondition(reads, { projectId, condition }));
    return c.json({ count, sample: sample.map(contactResponse) }, 200);
  });

  app.openapi(explainRoute, async (c) => {
    const { projectId } = c.var;
    const { contactId } = c.req.valid('query');
    const segment = await getSegment(reads, { projectId, id: c.req.valid('param').id });
    // Checked after the segment, so that the error reveals nothing about other projects' segments.
    if (contactId === undefined) throw queryErrors([{ field: 'contactId', message: 'Required', code: 'invalid_type' }]);
    const work = { projectId, kind: 'segments.explain' };
    const { filters, ...explained } = await compute.page(work, () => explainSegment(reads, segment, contactId));
    const { id: segmentId, type } = segment;
    return c.json({ segmentId, contactId, type, ...explained, ...fitLists({ filters }) }, 200);
  });

  app.openapi(historyRoute, async (c) => {
    const { projectId } = c.var;
    const { id, type } = await getSegment(reads, { projectId, id: c.req.valid('param').id });
    const { items, ...page } = await listSegmentHistory(reads, { projectId, id, type, ...c.req.valid('query') });
    const names = await nameActors(reads, { projectId, actors: items.map(({ actor }) => actor) });
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
    return c.json({ ...fitLists(uses), canDelete }, 200);
  });
}
