import { z } from 'zod';
import { listExpressionErrors } from '../../content/expressions.ts';
import { declareForms } from '../../input-forms.ts';
import { readIsoDate } from '../../time/iso-date.ts';
import { TIME_OF_DAY_PATTERN } from '../../time/local-time.ts';
import { DaysInput, ZoneInput } from '../../time/sending-window.ts';
import { findConfigErrors, type PauseStep } from './definition.ts';

const UNIT_MS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 };
const MAX_MS = 365 * UNIT_MS.days;

const DelayUntil = z
  .object({
    until: z
      .string()
      .min(1)
      .max(300)
      .refine((text) => text.includes('{{') || isTimeOfDay(text) || readIsoDate(text) !== undefined, {
        error: 'an ISO 8601 date-time such as 2027-01-31T09:00:00Z, an hour such as 09:00, or a {{variable}} of either',
        params: { code: 'invalid_string' },
      })
      .superRefine((text, ctx) => {
        for (const { message } of listExpressionErrors(text)) ctx.addIssue({ code: 'custom', message });
      }),
    days: DaysInput.optional(),
    timezone: ZoneInput.optional(),
  })
  .refine(({ until, days }) => canBeTimeOfDay(until) || days === undefined, {
    path: ['days'],
    message: 'Days need a time of day, such as 09:00.',
  })
  .refine(({ until, timezone }) => timezone === undefined || readIsoDate(until)?.offsetMs === undefined, {
    path: ['timezone'],
    message: 'The date already has a time zone: remove one of the two.',
  });
const DelayAmount = z
  .object({ amount: z.number().positive(), unit: z.enum(['seconds', 'minutes', 'hours', 'days', 'weeks']) })
  .refine((config) => delayMs(config) <= MAX_MS, { path: ['amount'], message: 'A delay can be at most 365 days.' });

/**
 * The schema of a config in one of two forms. The key `until` shows which form a config has, so that errors are
 * reported only for the fields of this form. With a union, the errors would also name fields of the other form.
 */
const DelayConfig = declareForms(
  z.unknown().transform((input, ctx) => {
    const result = selectSchema(input).safeParse(input);
    if (result.success) return result.data;
    ctx.issues.push(...result.error.issues.map((issue) => ({ ...issue, input: undefined })));
    return z.NEVER;
  }),
  selectSchema,
);

function selectSchema(input: unknown) {
  return typeof input === 'object' && input !== null && 'until' in input ? DelayUntil : DelayAmount;
}

/** Tells whether `until` is a local time, `HH:MM`. */
export function isTimeOfDay(until: string): boolean {
  return TIME_OF_DAY_PATTERN.test(until);
}

function canBeTimeOfDay(until: string): boolean {
  return isTimeOfDay(until) || until.includes('{{');
}

/** Waits for a span of time, until an instant (from the config or from a variable), or until a local time. */
export const delay: PauseStep = {
  kind: 'pause',
  input: DelayConfig,
  older: null,
  faults: ({ config }) => findConfigErrors(DelayConfig, config),
  branches: () => [null],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
  minWaitMs(config) {
    const { data } = DelayConfig.safeParse(config);
    if (!data) return Number.POSITIVE_INFINITY; // An invalid config is reported as another error.
    if ('amount' in data) return delayMs(data);
    // A local time occurs only once a day, so a cycle with such a step always waits long enough. The time in a variable
    // is unknown.
    return canBeTimeOfDay(data.until) ? Number.POSITIVE_INFINITY : 0;
  },
};

/** The amount and the unit of a DELAY. */
export interface DelaySpan {
  amount: number;
  unit: keyof typeof UNIT_MS;
}

/**
 * Returns the length of a DELAY in milliseconds. A day always has 24 hours here, also when daylight saving time
 * changes.
 */
export function delayMs({ amount, unit }: DelaySpan): number {
  return amount * UNIT_MS[unit];
}

/** Tells whether a DELAY is counted in calendar days. Such a DELAY ends at the same local time at which it started. */
export function isDelayInDays({ unit }: DelaySpan): boolean {
  return unit === 'days' || unit === 'weeks';
}
