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

/** Returns the fields that occur in the payloads. Fields in a group have the path of the group before their name. */
export function collectEventFields(payloads: readonly Readonly<Record<string, unknown>>[]): EventField[] {
  const found = new Map<string, EventField>();
  for (const payload of payloads) collectFields(found, payload, '', 1);
  return [...found.values()];
}

function collectFields(found: Map<string, EventField>, group: object, before: string, depth: number): void {
  for (const [key, value] of Object.entries(group)) {
    // A path cannot name an empty key or a key with a dot.
    if (key === '' || key.includes('.')) continue;
    const path = `${before}${key}`;
    const type = nameType(value);
    if (type === 'object' && depth < DEPTH_MAX) collectFields(found, value as object, `${path}.`, depth + 1);
    else if (type !== undefined) collectField(found, { path, type, value });
  }
}

function collectField(
  found: Map<string, EventField>,
  { path, type, value }: { path: string; type: string; value: unknown },
) {
  const existing = found.get(path);
  if (!existing && found.size >= FIELDS_MAX) return;
  const field = existing ?? { path, type, values: [] };
  const isPlain = type === 'string' || type === 'number' || type === 'date';
  const text = isPlain ? String(value) : '';
  if (text !== '' && text.length <= VALUE_CHARS && field.values.length < VALUES_MAX && !field.values.includes(text)) {
    field.values.push(text);
  }
  found.set(path, field);
}

/** Returns the type of a value. Undefined for null, which shows no type. */
function nameType(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return DATE.test(value) ? 'date' : 'string';
  return typeof value;
}
