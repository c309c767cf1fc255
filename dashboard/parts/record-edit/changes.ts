/** Unsaved changes of a record, by field. A form shows the stored record with these changes applied. */

/** The value of a field when the user first changed it, and the current value. */
export interface Change<Value> {
  from: Value;
  to: Value;
}
export type Changes<Fields> = { [Name in keyof Fields]?: Change<Fields[Name]> };

/** Compares two values of a field by content. Ignores properties with the names `key` and `stored`, which rows have. */
export function isSame(a: unknown, b: unknown): boolean {
  return toComparableJson(a) === toComparableJson(b);
}

function toComparableJson(value: unknown): string | undefined {
  return JSON.stringify(value, (name, part) => (name === 'key' || name === 'stored' ? undefined : part));
}

/**
 * Renames the fields of changes that an earlier release has stored in the browser.
 * @param p.oldNames the current name of each renamed field, by its old name
 */
export function renameFields<Fields extends object>(
  changes: Changes<Fields>,
  { oldNames }: { oldNames: Record<string, keyof Fields> },
): Changes<Fields> {
  const renamed = Object.entries(changes).map(([name, change]) => [oldNames[name] ?? name, change]);
  return Object.fromEntries(renamed) as Changes<Fields>;
}

/** Returns the stored fields with the changes applied. */
export function withChanges<Fields extends object>(stored: Fields, changes: Changes<Fields>): Fields {
  const fields = { ...stored };
  for (const name of getFieldNames(changes)) {
    const change = changes[name];
    if (change && name in stored) fields[name] = change.to;
  }
  return fields;
}

/** Adds typed values to the changes. A value that equals the stored one removes the change. */
export function addChanges<Fields extends object>(
  stored: Fields,
  changes: Changes<Fields>,
  typed: Partial<Fields>,
): Changes<Fields> {
  const next = { ...changes };
  for (const name of getFieldNames(typed)) {
    const before = changes[name];
    const to = typed[name] as Fields[typeof name];
    if (isSame(to, stored[name])) delete next[name];
    else next[name] = { from: before ? before.from : stored[name], to };
  }
  return next;
}

/** Returns the names of the fields whose changed value differs from the stored one. */
export function findUnsavedFields<Fields extends object>(stored: Fields, changes: Changes<Fields>): (keyof Fields)[] {
  return getFieldNames(changes).filter((name) => name in stored && !isSame(changes[name]?.to, stored[name]));
}

/** Returns the names of the fields that both this user and another user have changed, to different values. */
export function findConflicts<Fields extends object>(stored: Fields, changes: Changes<Fields>): (keyof Fields)[] {
  return findUnsavedFields(stored, changes).filter((name) => !isSame(changes[name]?.from, stored[name]));
}

/** Returns the names of the fields whose stored value differs from the value before. */
export function findFieldsChangedByOthers<Fields extends object>(before: Fields, stored: Fields): (keyof Fields)[] {
  return getFieldNames(stored).filter((name) => !isSame(before[name], stored[name]));
}

/** Settles conflicts: `theirs` drops the user's change, `mine` applies it to the stored record. */
export function resolveConflict<Fields extends object>(
  stored: Fields,
  changes: Changes<Fields>,
  choices: Partial<Record<keyof Fields, 'mine' | 'theirs'>>,
): Changes<Fields> {
  const next = { ...changes };
  for (const name of getFieldNames(choices)) {
    const change = changes[name];
    if (choices[name] === 'theirs') delete next[name];
    else if (change) next[name] = { from: stored[name], to: change.to };
  }
  return next;
}

/** Removes the changes that were saved. A field that the user edited again during the save stays changed. */
export function dropSavedChanges<Fields extends object>(
  changes: Changes<Fields>,
  sent: Fields,
  stored: Fields,
): Changes<Fields> {
  const next: Changes<Fields> = {};
  for (const name of getFieldNames(changes)) {
    const change = changes[name];
    if (change && !isSame(change.to, sent[name])) next[name] = { from: stored[name], to: change.to };
  }
  return next;
}

function getFieldNames<Fields extends object>(of: Fields): (keyof Fields)[] {
  return Object.keys(of) as (keyof Fields)[];
}
