/** Changes of a record by field, on top of whatever is stored. */

/** A field as it was when it was first changed, and as it is written now. */
export interface Change<Value> {
  from: Value;
  to: Value;
}
export type Changes<Fields> = { [Name in keyof Fields]?: Change<Fields[Name]> };

/** Compares two values of a field by content. The keys of rows, and what a row was made of, are not content. */
export function isSame(a: unknown, b: unknown): boolean {
  return contentOf(a) === contentOf(b);
}

function contentOf(value: unknown): string | undefined {
  return JSON.stringify(value, (name, part) => (name === 'key' || name === 'stored' ? undefined : part));
}

/** Shows the stored fields with the changes. */
export function withChanges<Fields extends object>(stored: Fields, changes: Changes<Fields>): Fields {
  const fields = { ...stored };
  for (const name of namesOf(changes)) {
    const change = changes[name];
    if (change && name in stored) fields[name] = change.to;
  }
  return fields;
}

/** Adds what is written to the changes; a field that is as it is stored is no change. */
export function addChanges<Fields extends object>(
  stored: Fields,
  changes: Changes<Fields>,
  written: Partial<Fields>,
): Changes<Fields> {
  const next = { ...changes };
  for (const name of namesOf(written)) {
    const before = changes[name];
    const to = written[name] as Fields[typeof name];
    if (isSame(to, stored[name])) delete next[name];
    else next[name] = { from: before ? before.from : stored[name], to };
  }
  return next;
}

/** Names the fields whose change would not leave the record as it is. */
export function changedNames<Fields extends object>(stored: Fields, changes: Changes<Fields>): (keyof Fields)[] {
  return namesOf(changes).filter((name) => name in stored && !isSame(changes[name]?.to, stored[name]));
}

/** Names the fields that were changed here and, to something else, by another person. */
export function conflictsOf<Fields extends object>(stored: Fields, changes: Changes<Fields>): (keyof Fields)[] {
  return changedNames(stored, changes).filter((name) => !isSame(changes[name]?.from, stored[name]));
}

/** Names the fields that are stored with another value than before. */
export function namesChanged<Fields extends object>(before: Fields, stored: Fields): (keyof Fields)[] {
  return namesOf(stored).filter((name) => !isSame(before[name], stored[name]));
}

/** Settles conflicts: `theirs` drops the change, `mine` puts it on top of what is stored now. */
export function settle<Fields extends object>(
  stored: Fields,
  changes: Changes<Fields>,
  choices: Partial<Record<keyof Fields, 'mine' | 'theirs'>>,
): Changes<Fields> {
  const next = { ...changes };
  for (const name of namesOf(choices)) {
    const change = changes[name];
    if (choices[name] === 'theirs') delete next[name];
    else if (change) next[name] = { from: stored[name], to: change.to };
  }
  return next;
}

/** Drops the changes that were saved; a field that was written on while it was being saved stays changed. */
export function dropSaved<Fields extends object>(
  changes: Changes<Fields>,
  sent: Fields,
  stored: Fields,
): Changes<Fields> {
  const next: Changes<Fields> = {};
  for (const name of namesOf(changes)) {
    const change = changes[name];
    if (change && !isSame(change.to, sent[name])) next[name] = { from: stored[name], to: change.to };
  }
  return next;
}

function namesOf<Fields extends object>(of: Fields): (keyof Fields)[] {
  return Object.keys(of) as (keyof Fields)[];
}
