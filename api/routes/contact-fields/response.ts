import { z } from '@hono/zod-openapi';
import { NamedUse, TruncatedLists } from '../../http/schemas.ts';

const FieldUsers = z.array(NamedUse);

export const Fields = z
  .object({
    fields: z.array(
      z.object({
        field: z.string(),
        type: z.enum(['string', 'number', 'boolean', 'date', 'array', 'object']),
        coverage: z.number().min(0).max(100),
        standard: z.boolean(),
      }),
    ),
    count: z.number().int(),
    truncated: TruncatedLists,
  })
  .openapi('ContactFields', {
    example: { fields: [{ field: 'data.plan', type: 'string', coverage: 87.5, standard: false }], count: 1 },
  });

export const FieldValues = z
  .object({
    field: z.string(),
    values: z.array(z.unknown()),
    count: z.number().int(),
    limit: z.number().int(),
    truncated: TruncatedLists,
  })
  .openapi('ContactFieldValues', { example: { field: 'plan', values: ['free', 'pro'], count: 2, limit: 100 } });

export const Usage = z
  .object({
    usedInSegments: FieldUsers,
    usedInCampaigns: FieldUsers,
    usedInWorkflows: FieldUsers,
    contactCount: z.number().int(),
    canDelete: z.boolean(),
    truncated: TruncatedLists,
  })
  .openapi('ContactFieldUsage', {
    example: { usedInSegments: [], usedInCampaigns: [], usedInWorkflows: [], contactCount: 1200, canDelete: true },
  });

export const DeletedField = z
  .object({ deletedFrom: z.number().int() })
  .openapi('DeletedContactField', { example: { deletedFrom: 1200 } });
