/**
 * The fields of inputs whose form depends on their value, such as a condition or the config of a step. Their schemas
 * parse by hand, so the schema itself does not show which fields exist. Source: contract §1.9 Unknown input.
 */
import type { z } from 'zod';

/** Returns the schema that lists the fields of this input. */
type FormOf = (input: unknown) => z.ZodType;

const forms = new WeakMap<z.core.$ZodType, FormOf>();

/**
 * Declares the fields of a schema's inputs, so that unknown ones can be named. Wrappers such as `nullish()` keep the
 * declaration. A copy by `openapi()` or `refine()` loses it, so declare last.
 */
export function describeForms<Schema extends z.ZodType>(schema: Schema, formOf: FormOf): Schema {
  forms.set(schema, formOf);
  return schema;
}

/** Returns the declaration of a schema. Undefined if the schema itself shows its fields. */
export function declaredForms(schema: z.core.$ZodType): FormOf | undefined {
  return forms.get(schema);
}
