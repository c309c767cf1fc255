import { z } from 'zod';
import { configFaults, type PauseStep } from './definition.ts';

const UNIT_MS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 };
const MAX_MS = 365 * UNIT_MS.days;

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
  .refine((config) => delayMs(config) <= MAX_MS, { path: ['amount'], message: 'a delay is at most 365 days' });

/** The two forms differ by a key, so that each fault is told at its own field; a union would name those of the other form. */
const DelayConfig = z.unknown().transform((input, ctx) => {
  const form = typeof input === 'object' && input !== null && 'until' in input ? DelayUntil : DelayAmount;
  const result = form.safeParse(input);
  if (result.success) return result.data;
  ctx.issues.push(...result.error.issues.map((issue) => ({ ...issue, input: undefined })));
  return z.NEVER;
});

/** Waits for a span, or until an instant that the config names or makes of variables. */
export const delay: PauseStep = {
  kind: 'pause',
  input: DelayConfig,
  faults: ({ config }) => configFaults(DelayConfig, config),
  branches: () => [null],
  takesTemplate: false,
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
  sureWaitMs(config) {
    const { data } = DelayConfig.safeParse(config);
    if (!data) return Number.POSITIVE_INFINITY; // That it is not configured is a fault of its own.
    if ('amount' in data) return delayMs(data);
    return data.until.includes('{{') ? Number.POSITIVE_INFINITY : 0;
  },
};

/** Length of a DELAY in milliseconds. */
export function delayMs({ amount, unit }: { amount: number; unit: keyof typeof UNIT_MS }): number {
  return amount * UNIT_MS[unit];
}
