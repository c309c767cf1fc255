import { createRoute, z } from '@hono/zod-openapi';
import { explainSegment } from '../../../db/segments/explain.ts';
import { previewCondition } from '../../../db/segments/preview.ts';
import { getSegment } from '../../../db/segments/segments.ts';
import { AppError } from '../../../rules/errors.ts';
import { OPERATORS, UNITS } from '../../../rules/filters/fields.ts';
import { errors, json, ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { EXAMPLE_ID, Id, IdParams } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';
import { CONTACT_EXAMPLE, ContactRecord, contactAnswer } from '../contacts/answer.ts';
import { PreviewCondition } from './input.ts';

const Preview = z
  .object({ count: z.number().int(), sample: z.array(ContactRecord).openapi({ description: 'The newest 10' }) })
  .openapi('SegmentPreview', { example: { count: 1, sample: [CONTACT_EXAMPLE] } });

const previewRoute = createRoute({
  method: 'post',
  path: '/segments/preview',
  operationId: 'previewSegment',
  tags: ['Segments'],
  summary: 'Count whom a condition means',
  description:
    'How many contacts the condition holds for at this moment, and the newest 10 of them. Nothing is stored.',
  security: scopes('segments:view'),
  request: { body: json(PreviewCondition) },
  responses: { 200: ok(Preview), ...errors('CONFLICT') },
});

const ExplainedFilter = z.object({
  path: z.string().openapi({ description: 'Where it stands in the condition; `members` for a STATIC segment' }),
  field: z.string(),
  operator: z.enum(OPERATORS),
  value: z.unknown().optional(),
  unit: z.enum(UNITS).optional(),
  contactValue: z.unknown().openapi({
    description:
      "The contact's field; of an event or a mail the last instant of it, of a segment whether the contact is in it. Null: there is none.",
  }),
  holds: z.boolean(),
});

const Explanation = z
  .object({
    segmentId: Id,
    contactId: Id,
    type: z.enum(['DYNAMIC', 'STATIC']),
    holds: z.boolean().openapi({ description: 'Whether the contact is in the segment now' }),
    member: z
      .boolean()
      .nullable()
      .openapi({ description: 'Whether it is a stored member, of a STATIC or tracked segment; null of others' }),
    filters: z.array(ExplainedFilter),
  })
  .openapi('SegmentExplanation', {
    example: {
      ...{ segmentId: EXAMPLE_ID, contactId: EXAMPLE_ID, type: 'DYNAMIC', holds: true, member: null },
      filters: [
        {
          ...{ path: 'groups.0.filters.0', field: 'data.plan', operator: 'equals', value: 'pro' },
          ...{ contactValue: 'pro', holds: true },
        },
      ],
    },
  });

const explainRoute = createRoute({
  method: 'get',
  path: '/segments/{id}/explain',
  operationId: 'explainSegment',
  tags: ['Segments'],
  summary: 'Why a contact is in a segment, or is not',
  description:
    'Each filter with what the contact has for it, and whether it holds. A STATIC segment has one: its membership.',
  security: scopes('segments:view'),
  request: { params: IdParams, query: z.object({ contactId: Id.optional() }) },
  responses: { 200: ok(Explanation), ...errors('CONFLICT') },
});

/** What a segment, or a condition that is none yet, means: it is looked at, and nothing is written. */
export function segmentLookRoutes(app: App, { reads, compute }: Deps): void {
  app.openapi(previewRoute, async (c) => {
    const { condition, filters } = c.req.valid('json');
    const { projectId } = c.var;
    const asked = condition ?? filters;
    if (!asked) throw new Error('a preview without a condition passed its check');
    const work = { projectId, kind: 'segments.preview' };
    const { count, sample } = await compute.page(work, () => previewCondition(reads, { projectId, condition: asked }));
    return c.json({ count, sample: sample.map(contactAnswer) }, 200);
  });

  app.openapi(explainRoute, async (c) => {
    const { projectId } = c.var;
    const { contactId } = c.req.valid('query');
    const segment = await getSegment(reads, { projectId, id: c.req.valid('param').id });
    // After the segment: of another project's nobody learns more than that there is none.
    if (contactId === undefined) throw new AppError('BAD_REQUEST', { message: 'The query names no contactId.' });
    const work = { projectId, kind: 'segments.explain' };
    const explained = await compute.page(work, () => explainSegment(reads, segment, contactId));
    return c.json({ segmentId: segment.id, contactId, type: segment.type, ...explained }, 200);
  });
}
