import { createHash } from 'node:crypto';
import { ownValueAt } from '../own-value.ts';

/**
 * A path of an execution's event or context: `event.cartId`, `event.items.0.sku`. A key such as `items[0]` would be
 * missing in every event, so that all of them have one value.
 */
export const REENTRY_KEY = /^(?:event|context)(?:\.(?![^.]*\[\d+\])[^.\s{}]{1,100}){1,5}$/;

/** The error of a path, with the remedy. */
export const REENTRY_KEY_FAULT =
  'Must be the path of a value of the event or the context, such as event.cartId or context.orderId';

/**
 * Returns the value at a path as a hash in the form of a UUID. A contact may have one open execution for each value,
 * and one for a missing value (undefined). A number and its digits as text are the same value.
 */
export function reentryValue(
  key: string | null,
  { event, context }: { event: Record<string, unknown>; context: Record<string, unknown> },
): string | undefined {
  if (key === null) return undefined;
  const value = ownValueAt({ event, context }, key.split('.'));
  if (value === null || value === undefined || value === '') return undefined;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
