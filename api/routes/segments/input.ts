import { z } from '@hono/zod-openapi';
import { type Condition, ConditionInput } from '../../../rules/filters/filters.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { EmailAddress, SlugInput } from '../../http/schemas.ts';

const NAME_MAX_CHARS = 255;
const DESCRIPTION_MAX_CHARS = 2000;

/** Addresses of one request (contract §5). */
const MEMBERS_MAX_EMAILS = 500;
export const PAGE_DEFAULT = 20;
export const PAGE_MAX = 100;

export const FILTERS_EXAMPLE: Condition = {
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

const Name = z
  .string()
  .trim()
  .min(1)
  .max(NAME_MAX_CHARS)
  .refine((name) => !name.includes('\0'), 'Must not hold a NUL character');

const Description = z
  .string()
  .max(DESCRIPTION_MAX_CHARS)
  .refine((text) => !text.includes('\0'), 'Must not hold a NUL character')
  .nullish();

export const CreateSegment = z
  .object({
    name: Name,
    slug: SlugInput.optional(),
    description: Description,
    type: z.enum(['DYNAMIC', 'STATIC']).default('DYNAMIC'),
    filters: Filters,
    condition: Filters,
    trackMembership: z.boolean().default(false),
  })
  .superRefine((body, ctx) => {
    const given = body.filters ?? body.condition;
    if (body.type === 'STATIC' && given)
      fault(ctx, body.filters ? 'filters' : 'condition', 'A STATIC segment has none.');
    if (body.type === 'DYNAMIC' && !given) fault(ctx, 'filters', 'A DYNAMIC segment needs filters.', 'invalid_type');
    refuseTwo(body, ctx);
  })
  .openapi('CreateSegment', { example: { name: 'Big spenders', filters: FILTERS_EXAMPLE, trackMembership: true } });

export const PatchSegment = z
  .object({
    updatedAt: ReadUpdatedAt,
    name: Name.optional(),
    slug: SlugInput.optional(),
    description: Description,
    filters: Filters,
    condition: Filters,
    trackMembership: z.boolean().optional(),
  })
  .superRefine(refuseTwo)
  .openapi('PatchSegment', { example: { name: 'Big spenders of the year' } });

/** A condition to look at before it is kept, by either of its names. */
export const PreviewCondition = z
  .object({ condition: Filters, filters: Filters })
  .superRefine((body, ctx) => {
    if (!body.condition && !body.filters) fault(ctx, 'condition', 'A preview needs a condition.', 'invalid_type');
    refuseTwo(body, ctx);
  })
  .openapi('PreviewCondition', { example: { condition: FILTERS_EXAMPLE } });

const Emails = z.array(EmailAddress).min(1).max(MEMBERS_MAX_EMAILS);

export const AddMembers = z
  .object({ emails: Emails, createMissing: z.boolean().default(false), subscribed: z.boolean().default(true) })
  .openapi('AddSegmentMembers', { example: { emails: ['ada@example.com'], createMissing: true } });

export const RemoveMembers = z
  .object({ emails: Emails })
  .openapi('RemoveSegmentMembers', { example: { emails: ['ada@example.com'] } });

interface BothNames {
  filters?: Condition | null | undefined;
  condition?: Condition | null | undefined;
}

/** `filters` and `condition` are one thing (contract §5.1): given both, they must say the same. */
function refuseTwo({ filters, condition }: BothNames, ctx: z.RefinementCtx): void {
  if (!filters || !condition || JSON.stringify(filters) === JSON.stringify(condition)) return;
  fault(ctx, 'condition', '`condition` and `filters` are the same thing, and say different things here.');
}

function fault(ctx: z.RefinementCtx, field: string, message: string, code = 'custom'): void {
  ctx.addIssue({ code: 'custom', path: [field], message, params: { code } });
}
