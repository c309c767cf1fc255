import { z } from 'zod';
import type { STEP_TYPES } from './execution.ts';
import { StepConditionInput, WaitFiltersInput } from './filters.ts';
import { isFramingHeader } from './webhook-headers.ts';

/** Step configurations, by type (decisions §7). The schemas check what comes in; the types are what is stored. */

const DELAY_UNIT_MS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 };
const DELAY_MAX_MS = 365 * DELAY_UNIT_MS.days;
/** 365 days, like a DELAY. */
const WAIT_MAX_SECONDS = 31_536_000;
export const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const SendEmailConfig = z.object({
  templateId: z.uuid(),
  from: z.union([z.email(), z.object({ name: z.string().max(200).optional(), email: z.email() })]).optional(),
  recipient: z
    .object({ type: z.enum(['CONTACT', 'CUSTOM']), customEmail: z.string().max(300).optional() })
    .refine((to) => to.type === 'CONTACT' || Boolean(to.customEmail), {
      path: ['customEmail'],
      message: 'customEmail is required when type is CUSTOM',
    })
    .optional(),
});

const DelayUntil = z.object({
  until: z
    .string()
    .min(1)
    .max(300)
    .refine((text) => text.includes('{{') || !Number.isNaN(Date.parse(text)), {
      error: 'a date-time, or a {{variable}} that holds one',
      params: { code: 'invalid_string' },
    }),
});
const DelayAmount = z
  .object({ amount: z.number().positive(), unit: z.enum(['seconds', 'minutes', 'hours', 'days', 'weeks']) })
  .refine((delay) => delayMs(delay) <= DELAY_MAX_MS, { path: ['amount'], message: 'a delay is at most 365 days' });

/** The two forms differ by a key, so that each fault is told at its own field; a union would name those of the other form. */
export const DelayConfig = z.unknown().transform((input, ctx) => {
  const form = typeof input === 'object' && input !== null && 'until' in input ? DelayUntil : DelayAmount;
  const result = form.safeParse(input);
  if (result.success) return result.data;
  ctx.issues.push(...result.error.issues.map((issue) => ({ ...issue, input: undefined })));
  return z.NEVER;
});

export const WaitConfig = z.object({
  eventName: z.string().min(1).max(255),
  timeout: z.number().positive().max(WAIT_MAX_SECONDS).optional(),
  filters: z.preprocess((filters) => (isNone(filters) ? undefined : filters), WaitFiltersInput.optional()),
});

/** An editor without filters saves an empty list: any event of the name. */
function isNone(filters: unknown): boolean {
  return filters === null || (Array.isArray(filters) && filters.length === 0);
}

export const ConditionConfig = StepConditionInput;

export const WebhookConfig = z.object({
  url: z
    .string()
    .max(2_000)
    .regex(/^https?:\/\//i, 'a URL begins with http:// or https://, written literally'),
  method: z.enum(WEBHOOK_METHODS).default('POST'),
  headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().max(2_000)).optional(),
  body: z.unknown().optional(),
  onFailure: z.enum(['CONTINUE', 'FAIL']).default('CONTINUE'),
});

/** What of a WEBHOOK's config is refused when it is saved; where it is stored already, the request goes without it. */
export const WebhookInput = WebhookConfig.superRefine(({ headers = {} }, ctx) => {
  for (const name of Object.keys(headers).filter(isFramingHeader)) {
    ctx.addIssue({ code: 'custom', path: ['headers', name], message: `${name} is set by the request itself` });
  }
});

export const UpdateContactConfig = z.object({
  updates: z.record(z.string(), z.unknown()).default({}),
  subscribed: z.boolean().optional(),
});

export const ExitConfig = z.object({ reason: z.string().max(200).optional() });

export const STEP_CONFIGS = {
  SEND_EMAIL: SendEmailConfig,
  DELAY: DelayConfig,
  WAIT_FOR_EVENT: WaitConfig,
  CONDITION: ConditionConfig,
  WEBHOOK: WebhookInput,
  UPDATE_CONTACT: UpdateContactConfig,
  EXIT: ExitConfig,
} as const satisfies Record<(typeof STEP_TYPES)[number], z.ZodType>;

/** Length of a DELAY in milliseconds. */
export function delayMs(delay: { amount: number; unit: keyof typeof DELAY_UNIT_MS }): number {
  return delay.amount * DELAY_UNIT_MS[delay.unit];
}
