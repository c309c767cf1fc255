import type { z } from 'zod';
import { findDeclaredForms } from '../../rules/input-forms.ts';

/** The fields that a schema declares. `opaque` accepts any field. A `leaf` is a value without fields. */
type DeclaredFields = 'opaque' | 'leaf' | DeclaredObject | DeclaredByValue;
interface DeclaredObject {
  fields: Map<string, () => DeclaredFields>;
  names: string[];
  /** The elements of a list, or the values of an object with any names. */
  element: (() => DeclaredFields) | undefined;
  anyName: boolean;
}
/** The fields depend on the value (`declareForms`). */
interface DeclaredByValue {
  formOf(value: unknown): DeclaredFields;
}

/** A field of a body that is not in its schema. */
export interface UnknownField {
  path: string[];
  /** The names of the fields that the schema declares in the same object. */
  siblings: string[];
  /** Says where to send the value instead, if the operation declares this (`setElsewhere`). */
  remedy?: string | undefined;
}

/** The fields of a schema, at any depth. */
export interface FieldNames {
  /** Returns all fields of a body that are not in the schema. */
  unknownIn(body: unknown): UnknownField[];
  /** Tells whether the schema has a field at this path. */
  hasField(path: readonly string[]): boolean;
  /**
   * Lists the fields that accept any content, such as `data`. A test compares the list with the expected fields, so
   * that a forgotten `declareForms` does not stay unnoticed.
   */
  freeForm(): string[];
}

/** The maximum number of fields in `X-Ignored-Fields`. Every resource of the API has fewer fields. */
const MAX_NAMED = 50;
const MAX_NAME_CHARS = 100;
const INDEX = /^\d+$/;
/** Deeper than any valid input. Limits the work for invalid input. */
const DEPTH_MAX = 64;

/**
 * Collects the fields of `schema`. Free-form objects such as `data` accept any field. Source: contract §1.9 Unknown
 * input.
 */
export function collectFieldNames(schema: z.ZodType): FieldNames {
  return {
    unknownIn(body) {
      const found: UnknownField[] = [];
      collectUnknownFields(body, collectSchemaFields(schema), [], found);
      return found;
    },
    hasField: (path) => hasPath(collectSchemaFields(schema), path),
    freeForm: () => [...listFreeForm(collectSchemaFields(schema), [])],
  };
}

/**
 * Formats field names for `X-Ignored-Fields`. They are URL-encoded, because header values are ASCII and a comma would
 * look like two names.
 */
export function formatNamesForHeader(fields: readonly Pick<UnknownField, 'path'>[]): string {
  return fields
    .slice(0, MAX_NAMED)
    .map(({ path }) => encodeShort(path.join('.')))
    .join(', ');
}

/** URL-encodes as much of a name as fits into `MAX_NAME_CHARS`. Never cuts through an encoded character. */
function encodeShort(name: string): string {
  let encoded = '';
  for (const character of name.slice(0, MAX_NAME_CHARS).toWellFormed()) {
    const next = encoded + encodeURIComponent(character);
    if (next.length > MAX_NAME_CHARS) break;
    encoded = next;
  }
  return encoded;
}

/** Adds all unknown fields of a value to `found`. `prefix` is the path of the value in the body. */
function collectUnknownFields(
  value: unknown,
  schemaFields: DeclaredFields,
  prefix: string[],
  found: UnknownField[],
): void {
  if (typeof value !== 'object' || value === null || prefix.length > DEPTH_MAX) return;
  const shape = resolveForm(schemaFields, value);
  if (shape === 'opaque' || shape === 'leaf') return;
  if (Array.isArray(value)) {
    const element = shape.element;
    if (element) value.forEach((item, i) => void collectUnknownFields(item, element(), [...prefix, String(i)], found));
    return;
  }
  // The schema declares a list, but the value is an object. The type check of the schema refuses it.
  if (shape.fields.size === 0 && shape.element && !shape.anyName) return;
  for (const key of Object.keys(value)) {
    const field = shape.fields.get(key) ?? (shape.anyName ? shape.element : undefined);
    if (field) collectUnknownFields(Reflect.get(value, key), field(), [...prefix, key], found);
    else found.push({ path: [...prefix, key], siblings: shape.names });
  }
}

/** Returns the fields for this value. For `DeclaredByValue`, they depend on the value. */
function resolveForm(shape: DeclaredFields, value: unknown): 'opaque' | 'leaf' | DeclaredObject {
  return typeof shape === 'object' && 'formOf' in shape ? resolveForm(shape.formOf(value), value) : shape;
}

/** Tells whether the schema declares the path. An opaque object declares no fields, so it declares no path below it. */
function hasPath(schemaFields: DeclaredFields, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const shape = resolveForm(schemaFields, undefined);
  if (shape === 'opaque' || shape === 'leaf') return false;
  const field = shape.fields.get(name) ?? (INDEX.test(name) ? shape.element : undefined);
  return field !== undefined && hasPath(field(), rest);
}

/** Yields the paths of the fields that accept any content. `*` means each element of a list or record. */
function* listFreeForm(shape: DeclaredFields, path: string[]): Generator<string> {
  if (shape === 'opaque') yield path.join('.');
  if (typeof shape === 'string' || 'formOf' in shape) return;
  for (const [name, field] of shape.fields) yield* listFreeForm(field(), [...path, name]);
  if (shape.element) yield* listFreeForm(shape.element(), [...path, '*']);
}

/** Known fields by schema. Schemas live as long as the process, and each is analyzed at its first use. */
const fieldsBySchema = new WeakMap<z.core.$ZodType, DeclaredFields>();

function collectSchemaFields(schema: z.core.$ZodType): DeclaredFields {
  const shape = fieldsBySchema.get(schema) ?? readDeclaredFields(schema);
  fieldsBySchema.set(schema, shape);
  return shape;
}

function readDeclaredFields(schema: z.core.$ZodType): DeclaredFields {
  const formOf = findDeclaredForms(schema);
  if (formOf) return { formOf: (value) => collectSchemaFields(formOf(value)) };
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case 'object':
      if (def.catchall && def.catchall._zod.def.type !== 'never') return 'opaque';
      return toDeclaredObject(
        new Map(Object.entries(def.shape).map(([name, field]) => [name, () => collectSchemaFields(field)])),
      );
    case 'array':
      return toDeclaredObject(new Map(), () => collectSchemaFields(def.element));
    case 'record':
      return typeof collectSchemaFields(def.valueType) === 'string'
        ? 'opaque'
        : { ...toDeclaredObject(new Map(), () => collectSchemaFields(def.valueType)), anyName: true };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return collectSchemaFields(def.innerType);
    case 'pipe':
      return collectSchemaFields(acceptsAnything(def.in) ? def.out : def.in);
    case 'lazy':
      return collectSchemaFields(def.getter());
    case 'union':
      return mergeDeclaredFields(def.options.map(collectSchemaFields));
    case 'intersection':
      return mergeDeclaredFields([collectSchemaFields(def.left), collectSchemaFields(def.right)]);
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

/** Returns the fields of a union or an intersection: every field that one of its parts declares. */
function mergeDeclaredFields(all: DeclaredFields[]): DeclaredFields {
  if (all.includes('opaque')) return 'opaque';
  const parts = all.filter((shape) => typeof shape === 'object');
  if (parts.some((shape) => 'formOf' in shape))
    return { formOf: (value) => mergeDeclaredFields(parts.map((shape) => resolveForm(shape, value))) };
  const objects = parts.filter((shape) => 'fields' in shape);
  return objects.length === 0 ? 'leaf' : mergeObjects(objects);
}

function mergeObjects(all: DeclaredObject[]): DeclaredObject {
  const fields = new Map<string, (() => DeclaredFields)[]>();
  for (const shape of all)
    for (const [name, field] of shape.fields) fields.set(name, [...(fields.get(name) ?? []), field]);
  const elements = all.flatMap(({ element }) => element ?? []);
  const merged = new Map([...fields].map(([name, parts]) => [name, mergeLazily(parts)]));
  const element = elements.length > 0 ? mergeLazily(elements) : undefined;
  return { ...toDeclaredObject(merged, element), anyName: all.some(({ anyName }) => anyName) };
}

function mergeLazily(parts: (() => DeclaredFields)[]): () => DeclaredFields {
  let shape: DeclaredFields | undefined;
  return () => {
    shape ??= mergeDeclaredFields(parts.map((part) => part()));
    return shape;
  };
}

function toDeclaredObject(fields: DeclaredObject['fields'], element?: DeclaredObject['element']): DeclaredObject {
  return { fields, names: [...fields.keys()], element, anyName: false };
}
