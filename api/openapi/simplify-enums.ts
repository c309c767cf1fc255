import { capitalize, type Document, listInnerSchemas, listOperations, type Schema } from './json.ts';

/**
 * Matches names of schemas for requests and list pages. An enum gets its name from such a schema only if no other
 * schema contains it.
 */
const REQUEST_OR_LIST = /^(Add|Bulk|Create|Import|List|Listed|Logged|Patch|Preview|Replay|Retry)[A-Z]/;

/** An inline enum. `name` is built from the name of the schema and the properties that lead to the enum. */
interface InlineEnum {
  name: string;
  schema: Schema;
}

/**
 * Rewrites enums for client generators. The Python generators refuse an enum of booleans. They also name an inline enum
 * after its parent, and this name can be the same as the name of another schema. So this function removes the enums of
 * booleans. It moves each enum of strings to `components`. Enums with the same values share one schema there. Changes
 * the document in place.
 */
export function simplifyEnums(document: Document): void {
  const schemas = document.components?.schemas ?? {};
  const written = Object.entries(schemas).flatMap(([name, schema]) => listEnums(schema, name));
  for (const schema of [...Object.values(schemas), ...listInlineSchemas(document)]) removeBooleanEnums(schema);
  const named = nameEnums(written, schemas);
  const inline = listInlineSchemas(document).flatMap((schema) => listEnums(schema, ''));
  for (const { schema } of [...written, ...inline]) {
    const name = named.get(formatEnumValues(schema));
    if (name !== undefined && schema !== schemas[name]) replaceByReference(schema, name);
  }
}

function listInlineSchemas(document: Document): Schema[] {
  return listOperations(document).flatMap(({ parameters = [], requestBody, responses }) => {
    const bodies = [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {}));
    return [...parameters, ...bodies].flatMap(({ schema }) => (schema ? [schema] : []));
  });
}

function removeBooleanEnums(schema: Schema): void {
  if (schema.type === 'boolean') {
    delete schema.enum;
    delete schema.const;
  }
  for (const part of listInnerSchemas(schema)) removeBooleanEnums(part);
}

function listEnums(schema: Schema, name: string): InlineEnum[] {
  const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = schema;
  return [
    ...((schema.enum?.length ?? 0) > 1 && formatEnumValues(schema) !== '' ? [{ name, schema }] : []),
    ...[...allOf, ...anyOf, ...oneOf, ...(items ? [items] : [])].flatMap((part) => listEnums(part, name)),
    // `data` is the envelope of a response, so it does not become part of the name.
    ...Object.entries(properties).flatMap(([key, part]) =>
      listEnums(part, key === 'data' ? name : name + capitalize(key)),
    ),
  ];
}

/**
 * Adds a schema to `schemas` for each set of enum values that has no schema yet. The schema gets the first name in the
 * order of `compareEnumNames` that no other schema has. Returns the names by the values (`formatEnumValues`).
 */
function nameEnums(written: InlineEnum[], schemas: Record<string, Schema>): Map<string, string> {
  const named = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas)) if (schema.enum) named.set(formatEnumValues(schema), name);
  const names = new Map<string, string[]>();
  for (const { name, schema } of written)
    names.set(formatEnumValues(schema), [...(names.get(formatEnumValues(schema)) ?? []), name]);
  for (const [values, candidates] of names) {
    if (named.has(values)) continue;
    const name = candidates.sort(compareEnumNames).find((one) => !(one in schemas));
    if (name === undefined) throw new Error(`No free name for the enum ${values}. Name it with .openapi('Name').`);
    schemas[name] = { type: 'string', enum: JSON.parse(values) };
    named.set(values, name);
  }
  return named;
}

function compareEnumNames(one: string, other: string): number {
  const later = Number(REQUEST_OR_LIST.test(one)) - Number(REQUEST_OR_LIST.test(other));
  return later || one.length - other.length || (one < other ? -1 : 1);
}

/** Returns the strings of an enum, without null, as JSON. Empty if the enum has no string, or a value of another type. */
function formatEnumValues({ enum: values = [] }: Schema): string {
  const strings = values.filter((value) => value !== null);
  return strings.length > 0 && strings.every((value) => typeof value === 'string') ? JSON.stringify(strings) : '';
}

function replaceByReference(schema: Schema, name: string): void {
  const reference = { $ref: `#/components/schemas/${name}` };
  const isNullable = schema.enum?.includes(null);
  delete schema.enum;
  delete schema.type;
  Object.assign(schema, isNullable ? { anyOf: [reference, { type: 'null' }] } : reference);
}
