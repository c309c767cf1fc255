import { type Document, listInnerSchemas, listOperations, parseReferenceName, type Schema } from './json.ts';

/** Strings of these formats need no example, because readers know the format. */
const KNOWN_FORMATS = new Set(['date-time', 'date', 'uuid']);

/**
 * Removes repeated examples. A request body keeps its whole example, for "Try it out" in the API reference. The example
 * of a response is moved to the properties of its schema, without the values that only repeat the type. Lists and
 * nested records then need no separate example, because viewers of the document assemble it from the properties.
 * Changes the document in place.
 */
export function moveExamplesToProperties(document: Document): void {
  const schemas = document.components?.schemas ?? {};
  const bodyNames = listBodySchemas(document);
  for (const [name, schema] of Object.entries(schemas)) {
    dropKnownExamples(schema);
    if (schema.example === undefined) continue;
    for (const property of Object.values(schema.properties ?? {})) dropExamples(property);
    if (bodyNames.has(name) || !(schema.properties ?? schema.allOf)) continue;
    const { example } = schema;
    delete schema.example;
    moveExample(schema, example, schemas);
  }
}

/**
 * Removes the examples in a property and in its inner schemas, because the example of the whole record contains them.
 */
function dropExamples(schema: Schema): void {
  delete schema.example;
  for (const part of listInnerSchemas(schema)) dropExamples(part);
}

function dropKnownExamples(schema: Schema): void {
  if (KNOWN_FORMATS.has(schema.format ?? '')) delete schema.example;
  for (const part of listInnerSchemas(schema)) dropKnownExamples(part);
}

/** Returns the names of the schemas of request bodies. */
function listBodySchemas(document: Document): Set<string> {
  const contents = listOperations(document).flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
  return new Set(contents.flatMap(({ schema }) => (schema?.$ref ? [parseReferenceName(schema.$ref)] : [])));
}

/**
 * Moves an example to the properties of a schema, at any depth. Keeps only the values that tell readers more than the
 * type of the property.
 */
function moveExample(schema: Schema, example: unknown, schemas: Record<string, Schema>): void {
  if (schema.$ref) {
    const named = schemas[parseReferenceName(schema.$ref)];
    if (named && named.example === undefined) moveExample(named, example, schemas);
    return;
  }
  for (const part of schema.allOf ?? []) moveExample(part, example, schemas);
  const alternative = (schema.anyOf ?? schema.oneOf)?.find((one) => one.type !== 'null');
  if (alternative && example !== null) moveExample(alternative, example, schemas);
  if (Array.isArray(example)) {
    if (example.length === 0) schema.example ??= example;
    else if (schema.items) moveExample(schema.items, example[0], schemas);
  } else if (typeof example === 'object' && example !== null) {
    moveToProperties(schema, example, schemas);
  } else if (example === null || addsInformation(example, schema)) {
    schema.example ??= example;
  }
}

function moveToProperties(schema: Schema, example: object, schemas: Record<string, Schema>): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const value = Reflect.get(example, name);
    if (value !== undefined) moveExample(property, value, schemas);
  }
  // A free-form object has no declared properties.
  const isOpen = !schema.properties && !schema.allOf && !schema.anyOf && !schema.oneOf;
  if (isOpen && Object.keys(example).length > 0) schema.example ??= example;
}

/**
 * Tells whether a value tells readers more than the schema of its property. The first value of an enum, for example,
 * adds nothing.
 */
function addsInformation(
  value: unknown,
  { enum: values, const: constant, format, allOf, anyOf, oneOf }: Schema,
): boolean {
  if (values) return value !== values[0];
  return typeof value === 'string' && !(constant ?? allOf ?? anyOf ?? oneOf) && !KNOWN_FORMATS.has(format ?? '');
}
