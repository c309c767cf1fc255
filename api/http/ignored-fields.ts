import type { z } from 'zod';

/** What a schema knows of an object's fields: `opaque` takes any. Made once a route, walked once a request. */
type Known = 'opaque' | KnownObject;
interface KnownObject {
  fields: Map<string, () => Known>;
  element: (() => Known) | undefined;
}

/** More names than this help nobody to find a typo. */
const MAX_NAMED = 20;
const MAX_NAME_CHARS = 100;

/**
 * Finds the fields of a body that its schema does not know, as dotted paths: they are ignored, and named in the
 * answer's `X-Ignored-Fields` header (contract §1.9).
 */
export function ignoredFields(schema: z.ZodType): (body: unknown) => string[] {
  const known = lazyKnown(schema);
  return (body) => {
    const found: string[] = [];
    collect(body, known(), '', found);
    return found;
  };
}

function collect(value: unknown, known: Known, prefix: string, found: string[]): void {
  if (known === 'opaque' || typeof value !== 'object' || value === null || found.length >= MAX_NAMED) return;
  if (Array.isArray(value)) {
    const element = known.element;
    if (element) value.forEach((item, i) => void collect(item, element(), `${prefix}${i}.`, found));
    return;
  }
  if (known.fields.size === 0) return;
  for (const key of Object.keys(value)) {
    const field = known.fields.get(key);
    if (field) collect(Reflect.get(value, key), field(), `${prefix}${key}.`, found);
    else if (found.length < MAX_NAMED) found.push(nameForHeader(prefix + key));
  }
}

/** Header values are printable ASCII; a comma would look like two names. */
function nameForHeader(name: string): string {
  return encodeURIComponent(name.toWellFormed()).slice(0, MAX_NAME_CHARS);
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
      return {
        fields: new Map(Object.entries(def.shape).map(([name, field]) => [name, lazyKnown(field)])),
        element: undefined,
      };
    case 'array':
      return { fields: new Map(), element: lazyKnown(def.element) };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return knownOf(def.innerType);
    case 'pipe':
      // Of a preprocess (transform first) what comes out is what tells.
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
      return { fields: new Map(), element: undefined };
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
  return {
    fields: new Map(
      [...fields].map(([name, parts]) => [name, parts.length === 1 && parts[0] ? parts[0] : mergeLazily(parts)]),
    ),
    element: elements.length > 0 ? mergeLazily(elements) : undefined,
  };
}
