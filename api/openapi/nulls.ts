import { type Document, partsOf, type Schema } from './json.ts';

/**
 * Of a named schema that may be null the generator asks for both at once, which no value is: this asks for either.
 * Changes the document in place.
 */
export function repairNullables(document: Document): void {
  for (const schema of Object.values(document.components?.schemas ?? {})) repairNullable(schema);
}

function repairNullable(schema: Schema): void {
  const [named, rest, ...others] = schema.allOf ?? [];
  if (named?.$ref && rest?.type?.includes('null') && others.length === 0) {
    const { type: _, ...said } = rest;
    delete schema.allOf;
    Object.assign(schema, said, { anyOf: [named, { type: 'null' }] });
  }
  for (const part of partsOf(schema)) repairNullable(part);
}
