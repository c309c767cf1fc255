import { z } from '@hono/zod-openapi';
import { TENANT_ORDERS } from '../../../db/operator/tenants.ts';
import { cursorQuery, QuerySwitch, wholeNumber } from '../../http/schemas.ts';

/** Maximum of a Postgres `integer`. */
const INT_MAX = 2_147_483_647;
const WEEK_HOURS = 168;

export const TenantQuery = cursorQuery(20).extend({
  search: z
    .string()
    .trim()
    .max(200)
    .refine((text) => !text.includes('\0'), 'Must not contain NUL characters')
    .optional()
    .openapi({ description: "Part of the name or of a member's address, or the id" }),
  held: QuerySwitch.optional().openapi({
    description: '`true` lists only projects on hold, for any reason, `false` only projects that are not on hold',
  }),
  order: z.enum(TENANT_ORDERS).default('newest').openapi({
    description:
      'Order of the list, by values of the last 24 hours or 30 days (see `over`). `bounces` and `complaints` order by the rate, which is computed as for 100 emails if a project has fewer. Every order except `newest` returns one page without a cursor.',
  }),
  over: z.enum(['day', 'month']).default('day').openapi({ description: 'Time span of `order`' }),
});

export const ResponsesQuery = z.object({
  hours: wholeNumber({ min: 1, max: WEEK_HOURS, default: 24, description: 'Number of hours, back from now' }),
});

const Note = z.string().trim().min(1).max(500);

export const HoldTenant = z
  .object({ reason: Note.openapi({ description: 'Shown to the project' }) })
  .openapi('HoldTenant', { example: { reason: 'Complaints from a bought list; call us' } });

export const ReleaseTenant = z
  .object({ note: Note.optional().openapi({ description: 'Recorded in the audit log' }) })
  .openapi('ReleaseTenant', { example: { note: 'List removed, agreed by phone' } });

export const LimitTenant = z
  .object({
    sendRatePerSecond: z.number().int().min(1).max(INT_MAX).nullish(),
    monthlyEmailLimit: z.number().int().min(0).max(INT_MAX).nullish(),
    bounceGuard: z.number().gt(0).max(1).nullish(),
    complaintGuard: z.number().gt(0).max(1).nullish(),
  })
  .openapi('LimitTenant', {
    description: 'Omitted fields do not change; null removes a limit. The guards are fractions of 1.',
    example: { sendRatePerSecond: 20, monthlyEmailLimit: 50_000 },
  });
