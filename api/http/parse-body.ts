import type { z } from 'zod';
import { AppError, type FieldError } from '../../rules/errors.ts';
import { toFieldErrors } from './field-errors.ts';
import { suggestName } from './suggest-name.ts';
import { collectFieldNames, formatNamesForHeader, type UnknownField } from './unknown-fields.ts';

/** Rules for the body of an operation. */
export interface BodyRules {
  /** Refuses unknown fields. Otherwise they are ignored. Source: contract §1.9 Unknown input. */
  unknownFields?: 'refuse' | undefined;
  /**
   * Schema of the record that the operation changes. A field of the record that the body's schema does not have is a
   * read-only field. Read-only fields are ignored, even if unknown fields are refused.
   */
  record?: z.ZodType | undefined;
  /**
   * Unknown fields that are refused even if other unknown fields are ignored, because ignoring them would look like
   * success. The text for each field says where its value belongs: in another field, another operation, or a header. A
   * field of the `record` is not refused if it has no value, or if the body is a whole record (with an `id`).
   */
  setElsewhere?: Readonly<Record<string, string>> | undefined;
  /** Status for errors in the body; 422 by default. */
  invalid?: 400 | undefined;
}

/** A body that matches its schema. */
export interface ParsedBody<T> {
  data: T;
  /** The names of the ignored fields as the value of `X-Ignored-Fields`. Empty if no field was ignored. */
  ignored: string;
}

/**
 * Creates the parser for the bodies of an operation. Create it once per route, because it analyzes the schema once.
 * The returned function throws an AppError with VALIDATION_ERROR and all errors of a body.
 */
export function createBodyParser<Schema extends z.ZodType>(
  schema: Schema,
  { unknownFields, record, setElsewhere = {}, invalid }: BodyRules,
): (value: unknown) => ParsedBody<z.output<Schema>> {
  const names = collectFieldNames(schema);
  const recordNames = record && collectFieldNames(record);
  return (value) => {
    const unknown = names.unknownIn(value).map((field) => withRemedy(field, setElsewhere));
    const isReadOnly = ({ path, remedy }: UnknownField) =>
      recordNames?.hasField(path) && (!remedy || hasNoValue(value, path) || isRecord(value));
    const isRefused = (field: UnknownField) => unknownFields === 'refuse' || field.remedy !== undefined;
    const refusedFields = unknown.filter((field) => isRefused(field) && !isReadOnly(field));
    const parsed = schema.safeParse(value);
    const errors = parsed.success ? [] : toFieldErrors(parsed.error.issues, value);
    if (refusedFields.length > 0) throw createUnknownFieldsError(refusedFields, errors);
    if (!parsed.success) throw createInvalidBodyError(errors, invalid);
    return { data: parsed.data, ignored: formatNamesForHeader(unknown) };
  };
}

function withRemedy(field: UnknownField, setElsewhere: Readonly<Record<string, string>>): UnknownField {
  const [name = '', ...rest] = field.path;
  if (rest.length > 0) return field;
  const intendedName = suggestName(name, [...field.siblings, ...Object.keys(setElsewhere)]) ?? name;
  return Object.hasOwn(setElsewhere, intendedName) ? { ...field, remedy: setElsewhere[intendedName] } : field;
}

function isRecord(body: unknown): boolean {
  return typeof Object(body).id === 'string';
}

function hasNoValue(body: unknown, [name = '']: readonly string[]): boolean {
  return (Object(body)[name] ?? null) === null;
}

/**
 * Returns the error of a body with these field errors.
 * @param status status of the route for invalid bodies, 422 if undefined
 */
export function createInvalidBodyError(errors: FieldError[], status: number | undefined): AppError {
  return new AppError('VALIDATION_ERROR', { errors, ...(status && { status }) });
}

/**
 * Returns the error for unknown fields. It is always 422, also on routes whose other errors in the body are 400.
 * Source: contract §1.9 Unknown input.
 */
function createUnknownFieldsError(unknown: readonly UnknownField[], others: FieldError[]): AppError {
  const errors = [...toUnknownFieldErrors(unknown, 'field'), ...others];
  const message = `${errors[0]?.field ?? ''}: ${errors[0]?.message ?? ''}`;
  return new AppError('VALIDATION_ERROR', { errors, message, suggestion: formatSuggestion(unknown) });
}

/** The maximum number of unknown fields to name. More names do not help to find a typo. */
const MAX_NAMED = 20;

/**
 * Returns the errors for the first 20 unknown names (`MAX_NAMED`). Each error says where the value belongs (`remedy`),
 * suggests a known name, or lists the accepted names.
 */
export function toUnknownFieldErrors(
  unknown: readonly UnknownField[],
  what: 'field' | 'query parameter',
): FieldError[] {
  return unknown.slice(0, MAX_NAMED).map((field) => {
    const intendedName = suggestKnownName(field);
    const acceptedNames =
      field.siblings.length > 0 ? `Accepted here: ${field.siblings.join(', ')}.` : `No ${what} is accepted here.`;
    const message =
      field.remedy ?? `Unknown ${what}. ${intendedName ? `Did you mean ${intendedName}?` : acceptedNames}`;
    return { field: field.path.join('.'), message, code: 'unrecognized_keys' };
  });
}

/**
 * Returns the text of the error's `suggestion`. This is the first text that says where a value belongs (`remedy`). If
 * there is no such text, it is the intended name for the first unknown name that resembles a known name, or else a
 * general text.
 */
export function formatSuggestion(unknown: readonly UnknownField[]): string {
  const withRemedyText = unknown.slice(0, MAX_NAMED).find((field) => field.remedy);
  if (withRemedyText?.remedy) return withRemedyText.remedy;
  const withSuggestion = unknown.slice(0, MAX_NAMED).find((field) => suggestKnownName(field) !== undefined);
  return withSuggestion
    ? `Did you mean ${suggestKnownName(withSuggestion)} instead of ${withSuggestion.path.at(-1)}?`
    : 'Remove the names listed in errors. The API reference lists the names that each operation accepts.';
}

function suggestKnownName({ path, siblings }: UnknownField): string | undefined {
  return suggestName(path.at(-1) ?? '', siblings);
}
