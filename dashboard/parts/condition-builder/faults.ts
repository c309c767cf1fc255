import type { ApiFieldError } from '../../api/failure.ts';
import type { DraftCondition, RowPart } from './draft.ts';

/** An error of the API, at the row that it belongs to. */
export interface ConditionFault {
  part: RowPart;
  message: string;
}

export interface ConditionFaults {
  /** Errors by row key. */
  rows: ReadonlyMap<string, readonly ConditionFault[]>;
  /** Errors of the condition as a whole, or of other parts of the request. */
  other: readonly ApiFieldError[];
}

export const NO_FAULTS: ConditionFaults = { rows: new Map(), other: [] };

/**
 * Maps the errors of a refused request to the rows of the draft that was sent.
 * @param at path of the condition in the request: `condition`, `filters`, `audienceFilter`, `config` …
 */
export function mapFaultsToRows(sent: DraftCondition, fields: readonly ApiFieldError[], at: string): ConditionFaults {
  const keys = mapPathsToKeys(sent, `${at}.`);
  const rows = new Map<string, ConditionFault[]>();
  const other: ApiFieldError[] = [];
  for (const fault of fields) {
    const path = /^(.*\bfilters\.\d+)(?:\.(field|operator|value|unit))?(?:\.\d+)*$/.exec(fault.field);
    const key = path?.[1] === undefined ? undefined : keys.get(path[1]);
    if (key === undefined) other.push(fault);
    else rows.set(key, [...(rows.get(key) ?? []), { part: (path?.[2] ?? 'field') as RowPart, message: fault.message }]);
  }
  return { rows, other };
}

/** Returns the key of each row by the path of its filter in the request. */
function mapPathsToKeys({ groups }: DraftCondition, prefix: string): Map<string, string> {
  const keys = new Map<string, string>();
  for (const [n, { filters, nested }] of groups.entries()) {
    const groupPrefix = `${prefix}groups.${n}.`;
    for (const [at, { key }] of filters.entries()) keys.set(`${groupPrefix}filters.${at}`, key);
    for (const [path, key] of nested ? mapPathsToKeys(nested, `${groupPrefix}conditions.`) : []) keys.set(path, key);
  }
  return keys;
}
