/** References between resources: an id in the database, a slug in a file. */

/** The kinds of resource that other resources can refer to. */
export type NamedKind = 'template' | 'segment' | 'topic';

/** Maps ids to slugs when a file is written, and slugs to ids when it is read. */
export type Names = Readonly<Record<NamedKind, ReadonlyMap<string, string>>>;

/** A name of a resource that does not exist, and its path in the document. */
export interface UnknownName {
  kind: NamedKind;
  name: string;
  path: (string | number)[];
}

type Json = Record<string, unknown>;

/** Fields that hold an id, each with the name of its field in a file, which holds a slug instead. */
const FIELDS = [
  { kind: 'template', id: 'templateId', slug: 'template' },
  { kind: 'topic', id: 'topicId', slug: 'topic' },
  { kind: 'segment', id: 'segmentId', slug: 'segment' },
] as const satisfies { kind: NamedKind; id: string; slug: string }[];

/** A field that holds an id. */
export type IdField = (typeof FIELDS)[number]['id'];

const ALL_FIELDS: readonly IdField[] = FIELDS.map(({ id }) => id);

/** `segment.<id>` and `topic.<id>` as conditions write them. */
const CONDITION_FIELD = /^((?:contact\.)?(segment|topic)\.)(.+)$/;

/**
 * Returns a record as a file has it: `templateId` becomes `template`, by slug. Unknown ids stay.
 * @param fields the fields of such a record that have ids
 */
export function withSlugs(record: Json, slugs: Names, fields = ALL_FIELDS): Json {
  const renamed = Object.entries(record).map(([name, value]) => {
    const field = FIELDS.find(({ id }) => id === name && fields.includes(id));
    return field
      ? [field.slug, typeof value === 'string' ? (slugs[field.kind].get(value) ?? value) : value]
      : [name, value];
  });
  return Object.fromEntries(renamed);
}

/** Reverses `withSlugs`. Unknown slugs are reported to `unknown`, and stay. */
export function withIds(
  record: Json,
  ids: Names,
  unknown: (name: UnknownName) => void,
  fields: readonly IdField[] = ALL_FIELDS,
): Json {
  const renamed = Object.entries(record).map(([name, value]) => {
    const field = FIELDS.find(({ id, slug }) => slug === name && fields.includes(id));
    if (!field) return [name, value];
    if (typeof value !== 'string') return [field.id, value];
    const id = ids[field.kind].get(value);
    if (id === undefined) unknown({ kind: field.kind, name: value, path: [name] });
    return [field.id, id ?? value];
  });
  return Object.fromEntries(renamed);
}

/** An id in a field, and the kind of its resource. */
export interface NamedId {
  field: IdField;
  kind: NamedKind;
  id: string;
}

/** Returns the ids that these fields of a record contain. */
export function idsIn(record: Json, fields: readonly IdField[]): NamedId[] {
  return FIELDS.flatMap(({ id: field, kind }) => {
    const id = record[field];
    return fields.includes(field) && typeof id === 'string' ? [{ field, kind, id }] : [];
  });
}

/**
 * Returns a condition of any form with other names in its fields. Unknown names are reported to `unknown`, and stay.
 */
export function conditionWith(
  condition: unknown,
  names: Names,
  unknown: (name: UnknownName) => void = () => {},
  path: (string | number)[] = [],
): unknown {
  if (Array.isArray(condition)) return condition.map((item, i) => conditionWith(item, names, unknown, [...path, i]));
  if (typeof condition !== 'object' || condition === null) return condition;
  const entries = Object.entries(condition).map(([key, value]) => {
    const here = [...path, key];
    if (key === 'field' && typeof value === 'string')
      return [key, fieldWith(value, names, (name) => unknown({ ...name, path: here }))];
    // The value of a filter is data, even if it looks like a condition.
    return [key, key === 'value' ? value : conditionWith(value, names, unknown, here)];
  });
  return Object.fromEntries(entries);
}

function fieldWith(field: string, names: Names, unknown: (name: Omit<UnknownName, 'path'>) => void): string {
  const [, prefix, kind, name] = CONDITION_FIELD.exec(field) ?? [];
  if (prefix === undefined || name === undefined || (kind !== 'segment' && kind !== 'topic')) return field;
  const other = names[kind].get(name) ?? names[kind].get(name.toLowerCase());
  if (other === undefined) unknown({ kind, name });
  return other === undefined ? field : prefix + other;
}

/** Returns the slugs of the segments in a condition of a file. */
export function segmentsNamed(condition: unknown): string[] {
  const names: string[] = [];
  const none = new Map<string, string>();
  conditionWith(condition, { template: none, segment: none, topic: none }, ({ kind, name }) => {
    if (kind === 'segment') names.push(name);
  });
  return names;
}
