import { z } from '@hono/zod-openapi';
import { STATIC_NOT_TRACKED } from '../../../db/segments/segments.ts';
import { ConditionInput, type Condition as ConditionRule } from '../../../rules/filters/filters.ts';
import { markAsAlias, resolveAliases } from '../../http/aliases.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { EmailAddress, SlugInput } from '../../http/schemas.ts';

const NAME_MAX_CHARS = 255;
const DESCRIPTION_MAX_CHARS = 2000;

/** Maximum number of addresses in one request (contract §5). */
const MEMBERS_MAX_EMAILS = 500;
export const PAGE_DEFAULT = 20;
export const PAGE_MAX = 100;

export const FILTERS_EXAMPLE: ConditionRule = {
  logic: 'AND',
  groups: [
    {
      filters: [
        { field: 'data.plan', operator: 'equals', value: 'pro' },
        { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' },
      ],
    },
  ],
};

const Filters = ConditionInput.nullish().openapi('ConditionInput', {
  anyOf: [
    { $ref: '#/components/schemas/Condition' },
    {
      type: 'object',
      description: 'The simple form',
      properties: {
        operator: { type: 'string', enum: ['AND', 'OR'] },
        conditions: { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/Filter' } },
      },
      required: ['operator', 'conditions'],
    },
    { type: 'null' },
  ],
  description: 'A condition, in the full or the simple form. Negative operators match contacts that lack the field.',
  example: FILTERS_EXAMPLE,
});
const Condition = markAsAlias(Filters, 'filters');

const Name = z
  .string()
  .trim()
  .min(1)
  .max(NAME_MAX_CHARS)
  .refine((name) => !name.includes('\0'), 'Must not contain NUL characters');

const Description = z
  .string()
  .max(DESCRIPTION_MAX_CHARS)
  .refine((text) => !text.includes('\0'), 'Must not contain NUL characters')
  .nullish();

export const CreateSegment = z
  .object({
    name: Name,
    slug: SlugInput.optional(),
    description: Description,
    type: z.enum(['DYNAMIC', 'STATIC']).default('DYNAMIC'),
    filters: Filters,
    condition: Condition,
    trackMembership: z.boolean().default(false),
  })
  .superRefine((body, ctx) => {
    const condition = body.filters ?? body.condition;
    if (body.type === 'STATIC' && condition)
      addFieldIssue(ctx, body.filters ? 'filters' : 'condition', 'A STATIC segment cannot have filters.');
    if (body.type === 'STATIC' && body.trackMembership) addFieldIssue(ctx, 'trackMembership', STATIC_NOT_TRACKED);
    if (body.type === 'DYNAMIC' && !condition)
      addFieldIssue(ctx, 'filters', 'A DYNAMIC segment needs a condition, in filters or condition.', 'invalid_type');
  })
  .openapi('CreateSegment', { example: { name: 'Big spenders', filters: FILTERS_EXAMPLE, trackMembership: true } });

export const PatchSegment = z
  .object({
    updatedAt: ReadUpdatedAt,
    name: Name.optional(),
    slug: SlugInput.optional(),
    description: Description,
    filters: Filters,
    condition: Condition,
    trackMembership: z.boolean().optional(),
  })
  .openapi('PatchSegment', { example: { name: 'Big spenders of the year' } });

/** A condition for a preview. It is not stored. */
export const PreviewCondition = z
  .object({ filters: Filters, condition: Condition })
  .superRefine((body, ctx) => {
    if (!body.condition && !body.filters)
      addFieldIssue(ctx, 'filters', 'A preview needs a condition, in filters or condition.', 'invalid_type');
  })
  .openapi('PreviewCondition', { example: { filters: FILTERS_EXAMPLE } });

const Emails = z.array(EmailAddress).min(1).max(MEMBERS_MAX_EMAILS);

export const AddMembers = z
  .object({
    emails: Emails,
    createMissing: z.boolean().default(false),
    subscribed: z.boolean().optional().openapi({
      default: true,
      description:
        'Whether contacts that `createMissing` creates are subscribed. The subscription of existing contacts does not change.',
    }),
  })
  .openapi('AddSegmentMembers', { example: { emails: ['ada@example.com'], createMissing: true } });

export const RemoveMembers = z
  .object({ emails: Emails })
  .openapi('RemoveSegmentMembers', { example: { emails: ['ada@example.com'] } });

/**
 * Returns the condition of a request, which may be in `filters` or `condition`. Undefined if neither has a condition.
 */
export function readRequestedCondition(
  body: { filters?: ConditionRule | null | undefined; condition?: ConditionRule | null | undefined },
  stored?: ConditionRule | null,
): ConditionRule | undefined {
  const { filters, condition } = body;
  return resolveAliases({ filters: filters ?? undefined, condition: condition ?? undefined }, stored ?? undefined);
}

function addFieldIssue(ctx: z.RefinementCtx, field: string, message: string, code = 'custom'): void {
  ctx.addIssue({ code: 'custom', path: [field], message, params: { code } });
}
