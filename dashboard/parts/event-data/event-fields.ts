/** A field of the data of an event, as found in its latest payloads. */
export interface EventField {
  /** A path into the data: `total`, `cart.currency`. */
  path: string;
  /** `string`, `number`, `boolean`, `date`, `array` or `object`. */
  type: string;
  /** Values of recent payloads, as text, to choose from. */
  values: string[];
}

/** The maximum depth of groups that are listed. Deeper fields can be typed. */
const DEPTH_MAX = 4;
const VALUES_MAX = 50;
const FIELDS_MAX = 300;
/** A longer text is not offered as a value. */
const VALUE_CHARS = 120;
const DATE = /^[1-9]\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d|$)/;

/**
 * Returns the fields that occur in the payloads, at most 300. A field in a group has the path of the group before its
 * name.
 */
export function collectEventFields(payloads: readonly Readonly<Record<string, unknown>>[]): EventField[] {
  const fields = new Map<string, EventField>();
  for (const payload of payloads) collectFields(fields, payload, '', 1);
  return [...fields.values()];
}

function collectFields(fields: Map<string, EventField>, group: object, prefix: string, depth: number): void {
  for (const [key, value] of Object.entries(group)) {
    // A path cannot name an empty key or a key with a dot.
    if (key === '' || key.includes('.')) continue;
    const path = `${prefix}${key}`;
    const type = getTypeName(value);
    if (type === 'object' && depth < DEPTH_MAX) collectFields(fields, value as object, `${path}.`, depth + 1);
    else if (type !== undefined) collectField(fields, { path, type, value });
  }
}

function collectField(
  fields: Map<string, EventField>,
  { path, type, value }: { path: string; type: string; value: unknown },
) {
  const existing = fields.get(path);
  if (!existing && fields.size >= FIELDS_MAX) return;
  const field = existing ?? { path, type, values: [] };
  const isPlain = type === 'string' || type === 'number' || type === 'date';
  const text = isPlain ? String(value) : '';
  if (text !== '' && text.length <= VALUE_CHARS && field.values.length < VALUES_MAX && !field.values.includes(text)) {
    field.values.push(text);
  }
  fields.set(path, field);
}

/** Returns the type of a value. Undefined for null, because the field may have any type in other payloads. */
function getTypeName(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return DATE.test(value) ? 'date' : 'string';
  return typeof value;
}
