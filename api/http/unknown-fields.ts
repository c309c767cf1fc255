import type { z } from 'zod';
import { declaredForms } from '../../rules/input-forms.ts';

/** The fields that a schema declares. `opaque` accepts any field. A `leaf` is a value without fields. */
type KnownFields = 'opaque' | 'leaf' | KnownObject | KnownByValue;
interface KnownObject {
  fields: Map<string, () => KnownFields>;
  names: string[];
  /** The elements of a list, or the values of an object with any names. */
  element: (() => KnownFields) | undefined;
  anyName: boolean;
}
/** The fields depend on the value (`describeForms`). */
interface KnownByValue {
  formOf(value: unknown): KnownFields;
}

/** A field of a body that is not in its schema, and the known fields at the same place. */
export interface UnknownField {
  path: string[];
  siblings: string[];
  /** Says where to send the value instead, if the operation declares this (`setElsewhere`). */
  remedy?: string | undefined;
}

/** The fields of a schema, at any depth. */
export interface FieldNames {
  /** Returns all fields of a body that are not in the schema. */
  unknownIn(body: unknown): UnknownField[];
  /** Tells whether the schema has a field at this path. */
  knows(path: readonly string[]): boolean;
  /**
   * Lists the fields that accept any content, such as `data`. A test compares the list, because a new entry must be
   * intended and not a missing `describeForms`.
   */
  freeForm(): string[];
}

/** The maximum number of fields in `X-Ignored-Fields`. No record has so many fields. */
const MAX_NAMED = 50;
const MAX_NAME_CHARS = 100;
const INDEX = /^\d+$/;
/** Deeper than any valid input. Limits the work for invalid input. */
const DEPTH_MAX = 64;

/**
 * Collects the fields of `schema`. Free-form objects such as `data` accept any field. Source: contract §1.9 Unknown
 * input.
 */
export function fieldNames(schema: z.ZodType): FieldNames {
  return {
    unknownIn(body) {
      const found: UnknownField[] = [];
      collect(body, fieldsOfSchema(schema), [], found);
      return found;
    },
    knows: (path) => knowsPath(fieldsOfSchema(schema), path),
    freeForm: () => [...freeParts(fieldsOfSchema(schema), [])],
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

function collect(value: unknown, schemaFields: KnownFields, prefix: string[], found: UnknownField[]): void {
  if (typeof value !== 'object' || value === null || prefix.length > DEPTH_MAX) return;
  const known = formFor(schemaFields, value);
  if (known === 'opaque' || known === 'leaf') return;
  if (Array.isArray(value)) {
    const element = known.element;
    if (element) value.forEach((item, i) => void collect(item, element(), [...prefix, String(i)], found));
    return;
  }
  // The schema declares a list, but the value is an object. The type check of the schema refuses it.
  if (known.fields.size === 0 && known.element && !known.anyName) return;
  for (const key of Object.keys(value)) {
    const field = known.fields.get(key) ?? (known.anyName ? known.element : undefined);
    if (field) collect(Reflect.get(value, key), field(), [...prefix, key], found);
    else found.push({ path: [...prefix, key], siblings: known.names });
  }
}

function formFor(known: KnownFields, value: unknown): 'opaque' | 'leaf' | KnownObject {
  return typeof known === 'object' && 'formOf' in known ? formFor(known.formOf(value), value) : known;
}

/** Tells whether the schema declares the path. An opaque object declares no fields, so it declares no path below it. */
function knowsPath(schemaFields: KnownFields, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const known = formFor(schemaFields, undefined);
  if (known === 'opaque' || known === 'leaf') return false;
  const field = known.fields.get(name) ?? (INDEX.test(name) ? known.element : undefined);
  return field !== undefined && knowsPath(field(), rest);
}

function* freeParts(known: KnownFields, path: string[]): Generator<string> {
  if (known === 'opaque') yield path.join('.');
  if (typeof known === 'string' || 'formOf' in known) return;
  for (const [name, field] of known.fields) yield* freeParts(field(), [...path, name]);
  if (known.element) yield* freeParts(known.element(), [...path, '*']);
}

/** Known fields by schema. Schemas live as long as the process, and each is analyzed at its first use. */
const fieldsBySchema = new WeakMap<z.core.$ZodType, KnownFields>();

function fieldsOfSchema(schema: z.core.$ZodType): KnownFields {
  const known = fieldsBySchema.get(schema) ?? analyze(schema);
  fieldsBySchema.set(schema, known);
  return known;
}

function analyze(schema: z.core.$ZodType): KnownFields {
  const formOf = declaredForms(schema);
  if (formOf) return { formOf: (value) => fieldsOfSchema(formOf(value)) };
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case 'object':
      if (def.catchall && def.catchall._zod.def.type !== 'never') return 'opaque';
      return knownObject(
        new Map(Object.entries(def.shape).map(([name, field]) => [name, () => fieldsOfSchema(field)])),
      );
    case 'array':
      return knownObject(new Map(), () => fieldsOfSchema(def.element));
    case 'record':
      return typeof fieldsOfSchema(def.valueType) === 'string'
        ? 'opaque'
        : { ...knownObject(new Map(), () => fieldsOfSchema(def.valueType)), anyName: true };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return fieldsOfSchema(def.innerType);
    case 'pipe':
      return fieldsOfSchema(acceptsAnything(def.in) ? def.out : def.in);
    case 'lazy':
      return fieldsOfSchema(def.getter());
    case 'union':
      return merge(def.options.map(fieldsOfSchema));
    case 'intersection':
      return merge([fieldsOfSchema(def.left), fieldsOfSchema(def.right)]);
    case 'any':
    case 'unknown':
    case 'custom':
    case 'transform':
      return 'opaque';
    default:
      return 'leaf';
  }
}

/**
 * Tells whether the input schema of a pipe accepts any value, as in a preprocess. Then the output schema declares the
 * fields.
 */
function acceptsAnything(input: z.core.$ZodType): boolean {
  return ['transform', 'unknown', 'any'].includes(input._zod.def.type);
}

function merge(all: KnownFields[]): KnownFields {
  if (all.includes('opaque')) return 'opaque';
  const parts = all.filter((known) => typeof known === 'object');
  if (parts.some((known) => 'formOf' in known))
    return { formOf: (value) => merge(parts.map((known) => formFor(known, value))) };
  const objects = parts.filter((known) => 'fields' in known);
  return objects.length === 0 ? 'leaf' : mergeObjects(objects);
}

function mergeObjects(all: KnownObject[]): KnownObject {
  const fields = new Map<string, (() => KnownFields)[]>();
  for (const known of all)
    for (const [name, field] of known.fields) fields.set(name, [...(fields.get(name) ?? []), field]);
  const elements = all.flatMap(({ element }) => element ?? []);
  const merged = new Map([...fields].map(([name, parts]) => [name, mergeLazily(parts)]));
  const element = elements.length > 0 ? mergeLazily(elements) : undefined;
  return { ...knownObject(merged, element), anyName: all.some(({ anyName }) => anyName) };
}

function mergeLazily(parts: (() => KnownFields)[]): () => KnownFields {
  let known: KnownFields | undefined;
  return () => {
    known ??= merge(parts.map((part) => part()));
    return known;
  };
}

function knownObject(fields: KnownObject['fields'], element?: KnownObject['element']): KnownObject {
  return { fields, names: [...fields.keys()], element, anyName: false };
}
