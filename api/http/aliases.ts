import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { type AppError, createFieldError, createQueryError } from '../../rules/errors.ts';

/** Marks `schema` as another name of `field` in the OpenAPI document. Resolve both names with `resolveAliases`. */
export function markAsAlias<S extends z.ZodType>(schema: S, field: string): S {
  return schema.openapi({ description: `Alias of \`${field}\``, 'x-alias-of': field });
}

/**
 * Returns the value of a field that a request may give under several names (contract §1.9 Unknown input). The code
 * behind the routes then knows only one name. Records in responses contain every name. A client may read a record,
 * change the value of one name, and send all names back. In this case, the value that differs from the stored value is
 * used.
 * @param valuesByName the values by name, the field's own name first; undefined for omitted names
 * @param stored the current value of the record that the request changes
 * @throws AppError VALIDATION_ERROR (422), at the second name, if two names have different values
 */
export function resolveAliases<V>(valuesByName: Record<string, V | undefined>, stored?: V): V | undefined {
  return chooseValue(valuesByName, { what: 'field', refuse: createFieldError, stored });
}

/**
 * Returns the value of a query parameter that has several names, in the same way as `resolveAliases`.
 * @throws AppError VALIDATION_ERROR (400), at the second name, if two names have different values
 */
export function resolveQueryAliases<V>(valuesByName: Record<string, V | undefined>): V | undefined {
  const refuse = (field: string, message: string) => createQueryError([{ field, message, code: 'custom' }]);
  return chooseValue(valuesByName, { what: 'parameter', refuse });
}

function chooseValue<V>(
  valuesByName: Record<string, V | undefined>,
  p: { what: string; refuse: (name: string, message: string) => AppError; stored?: V | undefined },
): V | undefined {
  const names = Object.entries(valuesByName).filter(([, value]) => value !== undefined);
  const changed = names.filter(([, value]) => !isDeepStrictEqual(value, p.stored));
  const [first, ...others] = changed.length > 0 ? changed : names;
  const conflicting = others.find(([, value]) => !isDeepStrictEqual(value, first?.[1]));
  if (first && conflicting) {
    const message = `\`${first[0]}\` and \`${conflicting[0]}\` are two names of one ${p.what} and have different values here. Send one of them.`;
    throw p.refuse(conflicting[0], message);
  }
  return first?.[1];
}
