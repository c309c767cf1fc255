import { z } from '@hono/zod-openapi';
import type { Listed } from '../../../db/page-budget.ts';
import type { Segment } from '../../../db/segments/segments.ts';
import { ConditionSchema } from '../../../rules/filters/filters.ts';
import { EXAMPLE_ID, Id, Instant, Truncated } from '../../http/schemas.ts';
import { CONTACT_EXAMPLE, ListedContact } from '../contacts/response.ts';
import { FILTERS_EXAMPLE } from './input.ts';

export const EXAMPLE = {
  id: EXAMPLE_ID,
  name: 'Big spenders',
  slug: 'big-spenders',
  description: null,
  type: 'DYNAMIC' as const,
  filters: FILTERS_EXAMPLE,
  condition: FILTERS_EXAMPLE,
  trackMembership: false,
  memberCount: 42,
  computedAt: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

const StoredCondition = z.union([ConditionSchema, z.null()]);

export const SegmentRecord = z
  .object({
    id: Id,
    name: z.string(),
    slug: z.string().openapi({
      description: 'Derived from the name. Part of the event names `segment.<slug>.entry` and `segment.<slug>.exit`.',
    }),
    description: z.string().nullable(),
    type: z.enum(['DYNAMIC', 'STATIC']),
    filters: StoredCondition.openapi({ description: 'Null for a STATIC segment' }),
    condition: StoredCondition.openapi({ description: 'Alias of `filters`' }),
    trackMembership: z.boolean().openapi({
      description:
        'Whether the segment is tracked: its members are stored, and events record which contacts enter and leave.',
    }),
    memberCount: z.number().int().openapi({ description: 'Number of members at the last count' }),
    computedAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Segment', { example: EXAMPLE });

export const ListedSegment = SegmentRecord.partial({ description: true, filters: true, condition: true })
  .extend({ truncated: Truncated })
  .openapi('ListedSegment', { example: EXAMPLE });

export const SegmentContacts = z
  .object({
    contacts: z.array(ListedContact),
    data: z.array(ListedContact),
    page: z.number().int(),
    pageSize: z.number().int(),
    total: z.number().int(),
    totalPages: z.number().int(),
  })
  .openapi('SegmentContacts', {
    example: { contacts: [CONTACT_EXAMPLE], data: [CONTACT_EXAMPLE], page: 1, pageSize: 20, total: 1, totalPages: 1 },
  });

export const AddedMembers = z
  .object({ added: z.number().int(), created: z.number().int(), notFound: z.array(z.string()) })
  .openapi('AddedSegmentMembers', { example: { added: 2, created: 1, notFound: [] } });

export const RemovedMembers = z
  .object({ removed: z.number().int() })
  .openapi('RemovedSegmentMembers', { example: { removed: 1 } });

export const Computed = z
  .object({ added: z.number().int(), removed: z.number().int(), total: z.number().int() })
  .openapi('ComputedSegment', { example: { added: 3, removed: 1, total: 44 } });

export const Refreshed = z
  .object({ memberCount: z.number().int() })
  .openapi('RefreshedSegment', { example: { memberCount: 44 } });

export function toListedResponse({ truncated, ...segment }: Listed<Segment>) {
  const { filters, condition, description, ...response } = toSegmentResponse(segment);
  return truncated ? { ...response, truncated: true as const } : { ...response, filters, condition, description };
}

export function toSegmentResponse(segment: Segment) {
  const { projectId: _, ...record } = segment;
  return {
    ...record,
    filters: segment.condition,
    computedAt: segment.computedAt?.toISOString() ?? null,
    createdAt: segment.createdAt.toISOString(),
    updatedAt: segment.updatedAt.toISOString(),
  };
}
