import type { z } from 'zod';

/** Fields of an object that a schema knows; `opaque` accepts any. Built once per route, used once per request. */
type Known = 'opaque' | KnownObject;
interface KnownObject {
  fields: Map<string, () => Known>;
  names: string[];
  element: (() => Known) | undefined;
}

/** A field of a body that is not in its schema, and the known fields at the same place. */
export interface UnknownField {
  path: string[];
  siblings: string[];
}

/** The fields of a schema, at any depth. */
export interface FieldNames {
  /** Returns all fields of a body that are not in the schema. */
  unknownIn(body: unknown): UnknownField[];
  /** Tells whether the schema has a field at this path. */
  knows(path: readonly string[]): boolean;
}

/** The maximum number of fields in `X-Ignored-Fields`. No record has as many fields of its own. */
const MAX_NAMED = 50;
const MAX_NAME_CHARS = 100;
const INDEX = /^\d+$/;

/**
 * Collects the fields of `schema`. Free-form objects such as `data` accept any. Source: contract §1.9 Unknown input.
 */
export function fieldNames(schema: z.ZodType): FieldNames {
  const known = lazyKnown(schema);
  return {
    unknownIn(body) {
      const found: UnknownField[] = [];
      collect(body, known(), [], found);
      return found;
    },
    knows: (path) => knowsPath(known(), path),
  };
}

/**
 * Formats field names for `X-Ignored-Fields`. They are URL-encoded, because header values are ASCII and a comma would
 * look like two names.
 */
export function namesForHeader(fields: readonly Pick<UnknownField, 'path'>[]): string {
  return fields
    .slice(0, MAX_NAMED)
    .map(({ path }) => encodeShort(path.join('.')))
    .join(', ');
}

/** Encodes the start of a name in at most `MAX_NAME_CHARS`, and never a part of a character. */
function encodeShort(name: string): string {
  let encoded = '';
  for (const character of name.slice(0, MAX_NAME_CHARS).toWellFormed()) {
    const next = encoded + encodeURIComponent(character);
    if (next.length > MAX_NAME_CHARS) break;
    encoded = next;
  }
  return encoded;
}

function collect(value: unknown, known: Known, prefix: string[], found: UnknownField[]): void {
  if (known === 'opaque' || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const element = known.element;
    if (element) value.forEach((item, i) => void collect(item, element(), [...prefix, String(i)], found));
    return;
  }
  // The type check refuses an object here.
  if (known.fields.size === 0 && prefix.length > 0) return;
  for (const key of Object.keys(value)) {
    const field = known.fields.get(key);
    if (field) collect(Reflect.get(value, key), field(), [...prefix, key], found);
    else found.push({ path: [...prefix, key], siblings: known.names });
  }
}

function knowsPath(known: Known, [name, ...rest]: readonly string[]): boolean {
  if (known === 'opaque' || name === undefined) return true;
  const field = known.fields.get(name) ?? (INDEX.test(name) ? known.element : undefined);
  return field !== undefined && knowsPath(field(), rest);
}

function lazyKnown(schema: z.core.$ZodType): () => Known {
  let known: Known | undefined;
  return () => {
    known ??= knownOf(schema);
    return known;
  };
}

function knownOf(schema: z.core.$ZodType): Known {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case 'object':
      if (def.catchall && def.catchall._zod.def.type !== 'never') return 'opaque';
      return knownObject(
        new Map(Object.entries(def.shape).map(([name, field]) => [name, lazyKnown(field)])),
        undefined,
      );
    case 'array':
      return knownObject(new Map(), lazyKnown(def.element));
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return knownOf(def.innerType);
    case 'pipe':
      // For a preprocess (transform first), the output schema has the fields.
      return knownOf(def.in._zod.def.type === 'transform' ? def.out : def.in);
    case 'lazy':
      return knownOf(def.getter());
    case 'union':
      return merge(def.options.map(knownOf));
    case 'intersection':
      return merge([knownOf(def.left), knownOf(def.right)]);
    case 'record':
    case 'any':
    case 'unknown':
    case 'custom':
      return 'opaque';
    default:
      return knownObject(new Map(), undefined);
  }
}

function merge(all: Known[]): Known {
  const fields = new Map<string, (() => Known)[]>();
  const elements: (() => Known)[] = [];
  for (const known of all) {
    if (known === 'opaque') return 'opaque';
    for (const [name, field] of known.fields) fields.set(name, [...(fields.get(name) ?? []), field]);
    if (known.element) elements.push(known.element);
  }
  const mergeLazily = (parts: (() => Known)[]) => {
    let known: Known | undefined;
    return () => {
      known ??= merge(parts.map((part) => part()));
      return known;
    };
  };
  return knownObject(
    new Map([...fields].map(([name, parts]) => [name, parts.length === 1 && parts[0] ? parts[0] : mergeLazily(parts)])),
    elements.length > 0 ? mergeLazily(elements) : undefined,
  );
}

function knownObject(fields: KnownObject['fields'], element: KnownObject['element']): KnownObject {
  return { fields, names: [...fields.keys()], element };
}
