import { createHash } from 'node:crypto';
import { readOwnValue } from '../own-value.ts';

/**
 * Matches the path of a value in an execution's event or context: `event.cartId`, `event.items.0.sku`. Refuses a name
 * such as `items[0]`, which no event has, so all events would have the same (missing) value.
 */
export const REENTRY_KEY_PATTERN = /^(?:event|context)(?:\.(?![^.]*\[\d+\])[^.\s{}]{1,100}){1,5}$/;

/** The error message for an invalid path. */
export const REENTRY_KEY_ERROR =
  'Must be the path of a value of the event or the context, such as event.cartId or context.orderId';

/**
 * Returns a hash of the value at a path, in the form of a UUID. A contact may have one open execution for each value,
 * and one without a value (undefined). A number and the same digits as text are one value.
 */
export function computeReentryValue(
  key: string | null,
  { event, context }: { event: Record<string, unknown>; context: Record<string, unknown> },
): string | undefined {
  if (key === null) return undefined;
  const value = readOwnValue({ event, context }, key.split('.'));
  if (value === null || value === undefined || value === '') return undefined;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
