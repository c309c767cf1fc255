import { type Document, listInnerSchemas, type Schema } from './json.ts';

/** Keywords that describe a value without restricting it. */
const ANNOTATIONS = new Set(['description', 'example', 'default', 'deprecated', 'x-alias-of']);

/**
 * Corrects keywords that the generator writes beside references to named schemas. Changes the document in place.
 * - "The schema and null", which matches no value, becomes "the schema or null".
 * - "The schema and a description" becomes a reference with a description beside it, which OpenAPI 3.1 allows. With
 *   `allOf` around a union, openapi-python-client drops the operation.
 */
export function repairReferences(document: Document): void {
  for (const schema of Object.values(document.components?.schemas ?? {})) repairReference(schema);
}

function repairReference(schema: Schema): void {
  const [named, rest, ...others] = schema.allOf ?? [];
  if (named?.$ref && rest && others.length === 0) {
    if (rest.type?.includes('null')) {
      const { type: _, ...keywords } = rest;
      delete schema.allOf;
      Object.assign(schema, keywords, { anyOf: [named, { type: 'null' }] });
    } else if (Object.keys(rest).every((keyword) => ANNOTATIONS.has(keyword))) {
      delete schema.allOf;
      Object.assign(schema, named, rest);
    }
  }
  for (const part of listInnerSchemas(schema)) repairReference(part);
}
