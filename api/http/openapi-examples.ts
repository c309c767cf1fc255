import { EXAMPLE_ID } from './schemas.ts';

/** A schema of the OpenAPI document, as plain JSON. */
interface Schema {
  $ref?: string;
  example?: unknown;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: unknown;
}

/** What a text of a format looks like, where its schema shows none. */
const BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-01T12:00:00.000Z',
  date: '2026-01-01',
  email: 'ada@example.com',
  uuid: EXAMPLE_ID,
  uri: 'https://example.com',
};
/** Conditions nest in themselves; deeper than this an example helps nobody. */
const MAX_DEPTH = 6;

/**
 * Gives every JSON body without an example one that is put together from the examples of its parts, so that a list
 * needs none of its own. Changes the document in place.
 */
export function fillExamples(document: { paths?: object; components?: { schemas?: object } }): void {
  const schemas = document.components?.schemas as Record<string, Schema> | undefined;
  for (const content of jsonContents(document.paths ?? {})) {
    if (!content.schema || content.example !== undefined || content.examples !== undefined) continue;
    if (resolve(content.schema, schemas)?.example === undefined) content.example = build(content.schema, schemas, 0);
  }
  for (const schema of Object.values(schemas ?? {})) {
    if (schema.example !== undefined) Object.values(schema.properties ?? {}).forEach(dropExamples);
  }
}

/** The example of the whole shows its parts: once is enough. */
function dropExamples(schema: Schema): void {
  delete schema.example;
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), schema.items];
  for (const part of [...parts, ...Object.values(schema.properties ?? {})]) if (part) dropExamples(part);
}

function jsonContents(paths: object): Content[] {
  const bodies = Object.values(paths).flatMap((item: object) =>
    Object.values(item).flatMap((operation) => [operation.requestBody, ...Object.values(operation.responses ?? {})]),
  );
  return bodies.flatMap((body) => (body?.content?.['application/json'] ? [body.content['application/json']] : []));
}

function resolve(schema: Schema, schemas: Record<string, Schema> | undefined): Schema | undefined {
  return schema.$ref ? schemas?.[schema.$ref.split('/').at(-1) ?? ''] : schema;
}

function build(given: Schema, schemas: Record<string, Schema> | undefined, depth: number): unknown {
  const schema = resolve(given, schemas);
  if (!schema || depth > MAX_DEPTH) return null;
  for (const shown of [schema.example, schema.const, schema.default, schema.enum?.[0]]) {
    if (shown !== undefined) return shown;
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => build(part, schemas, depth + 1)));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const first = alternatives.find((alternative) => alternative.type !== 'null');
    return first ? build(first, schemas, depth + 1) : null;
  }
  if (schema.properties) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, build(property, schemas, depth + 1)]),
    );
  }
  if (schema.items) return [build(schema.items, schemas, depth + 1)];
  return ofType(Array.isArray(schema.type) ? schema.type[0] : schema.type, schema.format);
}

function ofType(type: string | undefined, format: string | undefined): unknown {
  if (type === 'string') return BY_FORMAT[format ?? ''] ?? 'text';
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  return type === 'null' ? null : {};
}
