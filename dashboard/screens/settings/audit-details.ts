import { text } from '../../text/text.ts';

/** Returns the details of an audit entry as text, such as "monthly email limit: 5000, tracking: DISABLED". */
export function describeDetails(details: Record<string, unknown>): string {
  return Object.entries(details)
    .map(([name, value]) => `${describeName(name)}: ${describeValue(value)}`)
    .join(', ');
}

/** Returns a field name such as `monthlyEmailLimit` as separate words. */
function describeName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function describeValue(value: unknown): string {
  if (value === null) return text.parts.none;
  if (Array.isArray(value)) return value.length === 0 ? text.parts.none : value.map(describeValue).join(', ');
  return typeof value === 'object' ? `(${describeDetails(value as Record<string, unknown>)})` : String(value);
}
