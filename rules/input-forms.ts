/**
 * Declares the fields of inputs that have several forms, such as a condition or the config of a step. The schema of
 * such an input is a function, so zod cannot list its fields. Source: contract §1.9 Unknown input.
 */
import type { z } from 'zod';

/** A function that returns a schema with the fields of a given input. */
type FormOf = (input: unknown) => z.ZodType;

const forms = new WeakMap<z.core.$ZodType, FormOf>();

/**
 * Declares the fields of a schema's inputs, so that a response can name unknown fields. Wrappers such as `nullish()`
 * keep the declaration. A copy by `openapi()` or `refine()` loses it, so call this function last.
 */
export function declareForms<Schema extends z.ZodType>(schema: Schema, formOf: FormOf): Schema {
  forms.set(schema, formOf);
  return schema;
}

/** Returns the declaration for a schema. Undefined if the schema has none, because zod can list its fields. */
export function findDeclaredForms(schema: z.core.$ZodType): FormOf | undefined {
  return forms.get(schema);
}
