import { z } from '@hono/zod-openapi';
import { createQueryError } from '../../../rules/errors.ts';
import { type LocalDay, listLocalDays } from '../../../rules/time/local-days.ts';
import { DAY_MS, toInstant } from '../../../rules/time/local-time.ts';
import { type DayOrInstant, DayOrInstantInput } from '../../http/schemas.ts';

/** Analytics cover 30 days unless dates are given (contract §8.4 Analytics). */
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

/** The query of operations that count over a time span. */
export const spanQuery = z.object({
  startDate: DayOrInstantInput.optional().openapi({
    description: 'Start of the span; defaults to 30 days before `endDate`',
  }),
  endDate: DayOrInstantInput.optional().openapi({
    description: 'End of the span; defaults to now. A date without a time includes the whole day.',
  }),
});

interface SpanQuery {
  startDate?: DayOrInstant | undefined;
  endDate?: DayOrInstant | undefined;
}

/**
 * Returns the time span of a query.
 * @throws AppError VALIDATION_ERROR (400) for a span that ends before it starts, or is longer than `MAX_DAYS`
 */
export function parseSpan(query: SpanQuery): { startDate: Date; endDate: Date } {
  const endDate = query.endDate ? getSpanEnd(query.endDate) : new Date();
  const startDate = query.startDate?.at ?? new Date(endDate.getTime() - DEFAULT_DAYS * DAY_MS);
  if (startDate > endDate)
    throw createQueryError([{ field: 'startDate', message: 'Must be before endDate', code: 'custom' }]);
  if (endDate.getTime() - startDate.getTime() > MAX_DAYS * DAY_MS + DAY_MS) {
    throw createQueryError([
      { field: 'startDate', message: `A time span is at most ${MAX_DAYS} days`, code: 'too_big' },
    ]);
  }
  return { startDate, endDate };
}

/**
 * Returns the days of a query's time span in a time zone. A date without a time means the whole day in this zone.
 * @throws AppError like `parseSpan`
 */
export function listDays(query: SpanQuery, zone: string): LocalDay[] {
  const { startDate, endDate } = parseSpan(query);
  const first = query.startDate?.isDay ? toInstant(zone, startDate.getTime()) : startDate.getTime();
  const last = query.endDate?.isDay ? toInstant(zone, query.endDate.at.getTime()) : endDate.getTime();
  return listLocalDays(zone, first, last);
}

/** Returns the same number of days just before `days`, in the same zone. */
export function listDaysBefore(days: readonly LocalDay[], zone: string): LocalDay[] {
  const first = days[0];
  if (!first) return [];
  const firstMs = first.fromMs - days.length * DAY_MS;
  // Adds and subtracts half a day, so that the dates are right even if daylight saving time changes in between.
  return listLocalDays(zone, firstMs + DAY_MS / 2, first.fromMs - DAY_MS / 2);
}

/** Returns `part` as a percentage of `whole`, with two decimals. Returns 0 if `whole` is 0. */
export function toPercentage(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100;
}

/** Returns the end of a time span. A date without a time becomes the last millisecond of that day in UTC. */
function getSpanEnd({ at, isDay }: DayOrInstant): Date {
  return isDay ? new Date(at.getTime() + DAY_MS - 1) : at;
}
