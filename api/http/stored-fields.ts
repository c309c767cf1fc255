import { isSameJson } from '../../rules/as-code/changes.ts';
import { AppError, type FieldError } from '../../rules/errors.ts';
import { readOwnValue } from '../../rules/own-value.ts';
import { isStoredAt, parseWithOlderRules } from '../../rules/stored-values.ts';
import type { Deps } from './deps.ts';
import { createInvalidBodyError } from './parse-body.ts';

/** How to load the record that a request changes, and where its fields are in the body. */
export interface StoredFields {
  /** Returns the stored record in the form of the body. Undefined if the record does not exist. */
  load(
    deps: Pick<Deps, 'db' | 'config'>,
    request: { projectId: string; id: string; body: unknown },
  ): Promise<object | undefined>;
  /** Length of the path of a record's field in the body: 1, or 3 if records are in lists (`templates.0.from`). */
  depth: 1 | 3;
}

/**
 * Returns the `stored` option of a route that changes one record. `load` returns the record in the form in which its
 * GET operation returns it, or throws NOT_FOUND.
 */
export function createStoredFields(
  load: (deps: Pick<Deps, 'db' | 'config'>, ref: { projectId: string; id: string }) => Promise<object>,
): StoredFields {
  return {
    depth: 1,
    async load(deps, ref) {
      try {
        return await load(deps, ref);
      } catch (error) {
        if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined;
        throw error;
      }
    },
  };
}

/**
 * Parses a refused body again, but accepts values that the stored record already has, even if a newer rule forbids
 * them. A value is a field, an item of a list, or a filter. So the caller can still change the other parts of the
 * record.
 * @throws AppError VALIDATION_ERROR with the refused parts that are not stored
 */
export function parseWithStoredValues<T>(
  body: unknown,
  {
    refusal,
    parse,
    ...p
  }: { refusal: AppError; stored: object; depth: StoredFields['depth']; parse(body: unknown): T },
): T {
  const rest = omitStored(body, { ...p, errors: refusal.errors ?? [] });
  try {
    if (rest === undefined) throw refusal;
    return parse(rest);
  } catch (error) {
    if (!(error instanceof AppError) || !error.errors) throw error;
    const changed = error.errors.filter(({ field }) => !isStoredPart(field, body, p));
    if (changed.length === 0) return parseWithOlderRules(() => parse(rest ?? body));
    throw changed.length === error.errors.length ? error : createInvalidBodyError(changed, error.status);
  }
}

function isStoredPart(field: string, body: unknown, p: { stored: object; depth: StoredFields['depth'] }): boolean {
  const path = field.split('.');
  const record = path.slice(0, p.depth - 1);
  return isStoredAt(path.slice(p.depth - 1), readOwnValue(body, record), readOwnValue(p.stored, record));
}

/**
 * Returns a refused body without the refused fields whose value equals the stored value. These fields are treated as
 * omitted. So a client can read a record and send it back, even if a newer rule forbids a stored value. Undefined if no
 * refused field has its stored value.
 */
function omitStored(
  body: unknown,
  { stored, errors, depth }: { stored: object; errors: readonly FieldError[]; depth: StoredFields['depth'] },
): unknown {
  const paths = new Set(errors.map(({ field }) => field.split('.').slice(0, depth).join('.')));
  const copy: unknown = structuredClone(body);
  let hasOmitted = false;
  for (const path of paths) {
    const keys = path.split('.');
    const field = keys.pop() ?? '';
    const parent = readOwnValue(copy, keys);
    const value = readOwnValue(parent, [field]);
    if (keys.length !== depth - 1 || value === undefined || !isSameJson(value, readOwnValue(stored, [...keys, field])))
      continue;
    Reflect.deleteProperty(Object(parent), field);
    hasOmitted = true;
  }
  return hasOmitted ? copy : undefined;
}
