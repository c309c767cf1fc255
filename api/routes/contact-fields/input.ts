import { z } from '@hono/zod-openapi';

/** Default and maximum number of values in a response. Source: contract §3. */
export const VALUES_DEFAULT = 100;
export const VALUES_MAX = 200;

export const FieldParams = z.object({
  field: z.string().min(1).max(105).openapi({ description: 'Custom field: `plan` or `data.plan`', example: 'plan' }),
});
