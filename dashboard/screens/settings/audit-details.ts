import { text } from '../../text/text.ts';

/** Returns the details of an audit entry as text, such as "Monthly email limit: 5,000, tracking: disabled". */
export function describeDetails(details: Record<string, unknown>): string {
  const line = listDetails(details);
  return line.charAt(0).toUpperCase() + line.slice(1);
}

function listDetails(details: Record<string, unknown>): string {
  return Object.entries(details)
    .map(([name, value]) => `${describeName(name)}: ${describeValue(value)}`)
    .join(', ');
}

/** Returns a field name such as `monthlyEmailLimit` as separate words. */
function describeName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The API writes enum values in capitals. */
const ENUM = /^[A-Z]+(_[A-Z]+)*$/;

function describeValue(value: unknown): string {
  if (value === null) return text.parts.none;
  if (typeof value === 'number') return value.toLocaleString();
  if (Array.isArray(value)) return value.length === 0 ? text.parts.none : value.map(describeValue).join(', ');
  if (typeof value === 'boolean') return value ? text.parts.yes : text.parts.no;
  if (typeof value === 'string' && ENUM.test(value)) return value.toLowerCase().replaceAll('_', ' ');
  return typeof value === 'object' ? `(${listDetails(value as Record<string, unknown>)})` : String(value);
}
