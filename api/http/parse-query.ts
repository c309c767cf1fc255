import type { z } from 'zod';
import { createQueryError, type FieldError } from '../../rules/errors.ts';
import { isStorable } from '../../rules/json-body.ts';
import { toFieldErrors } from './field-errors.ts';
import { formatSuggestion, toUnknownFieldErrors } from './parse-body.ts';
import { collectFieldNames, type UnknownField } from './unknown-fields.ts';

/**
 * Creates the parser for the queries of an operation. Create it once per route, because it analyzes the schema once.
 * The returned function throws an AppError with VALIDATION_ERROR (400) for invalid values and, unless `anyQuery` is
 * set, for unknown parameters.
 */
export function createQueryParser<Schema extends z.ZodType>(
  schema: Schema,
  { anyQuery }: { anyQuery?: true | undefined } = {},
): (queries: Record<string, string[]>) => z.output<Schema> {
  const names = collectFieldNames(schema);
  return (queries) => {
    const query = Object.fromEntries(
      Object.entries(queries).map(([name, values]) => [
        name,
        values.length === 1 ? values[0]?.normalize('NFC') : values.map((value) => value.normalize('NFC')),
      ]),
    );
    if (!anyQuery) refuseUnknownQuery(names.unknownIn(query));
    const parsed = schema.safeParse(query);
    if (!parsed.success)
      throw createQueryError(
        toFieldErrors(parsed.error.issues, query).map(removeListIndex).map(explainRepeatedParameter(query)),
      );
    const unstorable = Object.entries(queries).find(([, values]) => !values.every(isStorable));
    if (unstorable) {
      const message = 'Must not contain NUL characters.';
      throw createQueryError([{ field: unstorable[0], message, code: 'invalid_string' }]);
    }
    return parsed.data;
  };
}

/**
 * Refuses a query with unknown parameters.
 * @throws AppError VALIDATION_ERROR (400) unless `unknown` is empty
 */
export function refuseUnknownQuery(unknown: UnknownField[]): void {
  if (unknown.length > 0)
    throw createQueryError(toUnknownFieldErrors(unknown, 'query parameter'), formatSuggestion(unknown));
}

/**
 * Returns a function that replaces the message of an error if its parameter takes one value but occurs several times.
 */
function explainRepeatedParameter(query: Record<string, unknown>) {
  return (error: FieldError): FieldError =>
    error.code === 'invalid_type' && Array.isArray(query[error.field])
      ? { ...error, message: 'The query contains this parameter more than once. Send it once.' }
      : error;
}

/**
 * Removes the index from the field of an error. `?status=X` is parsed as a list of one value, but the error is about
 * `status`.
 */
function removeListIndex<Fault extends { field: string }>(error: Fault): Fault {
  return { ...error, field: error.field.replace(/^([^.]+)\.\d+$/, '$1') };
}
