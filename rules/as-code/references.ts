/**
 * Converts references between resources, such as a workflow step with a template. The database refers to a resource by
 * its id, and a file of the configuration as code refers to it by its slug.
 */

/** The kinds of resource that other resources can refer to. */
export type NamedKind = 'template' | 'segment' | 'topic';

/** For each kind, a map from ids to slugs (to write a file), or from slugs to ids (to read a file). */
export type Names = Readonly<Record<NamedKind, ReadonlyMap<string, string>>>;

/** A name to which no resource belongs, and the path of the name in the document. */
export interface UnknownName {
  kind: NamedKind;
  name: string;
  path: (string | number)[];
}

type Json = Record<string, unknown>;

/**
 * Fields that refer to a resource. The database and the API store the resource's id in the field `id`. A file has the
 * resource's slug instead, in the field `slug`.
 */
const FIELDS = [
  { kind: 'template', id: 'templateId', slug: 'template' },
  { kind: 'topic', id: 'topicId', slug: 'topic' },
  { kind: 'segment', id: 'segmentId', slug: 'segment' },
] as const satisfies { kind: NamedKind; id: string; slug: string }[];

/** A field with the id of a resource. */
export type IdField = (typeof FIELDS)[number]['id'];

const ALL_FIELDS: readonly IdField[] = FIELDS.map(({ id }) => id);

/** The fields `segment.<id>` and `topic.<id>` of a condition. */
const CONDITION_FIELD = /^((?:contact\.)?(segment|topic)\.)(.+)$/;

/**
 * Returns a record as a file has it: `templateId` becomes `template` and has a slug. Unknown ids are kept.
 * @param fields the fields of the record that contain ids
 */
export function replaceIdsBySlugs(record: Json, slugs: Names, fields = ALL_FIELDS): Json {
  const renamed = Object.entries(record).map(([name, value]) => {
    const field = FIELDS.find(({ id }) => id === name && fields.includes(id));
    return field
      ? [field.slug, typeof value === 'string' ? (slugs[field.kind].get(value) ?? value) : value]
      : [name, value];
  });
  return Object.fromEntries(renamed);
}

/** Reverses `replaceIdsBySlugs`. Unknown slugs are kept, and passed to the function `unknown`. */
export function replaceSlugsByIds(
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

/** The id of a resource, with its field and the kind of the resource. */
export interface NamedId {
  field: IdField;
  kind: NamedKind;
  id: string;
}

/** Returns the ids in the given fields of a record. */
export function listIds(record: Json, fields: readonly IdField[]): NamedId[] {
  return FIELDS.flatMap(({ id: field, kind }) => {
    const id = record[field];
    return fields.includes(field) && typeof id === 'string' ? [{ field, kind, id }] : [];
  });
}

/**
 * Returns a condition with its segments and topics renamed by `names`: ids to slugs, or slugs to ids. Unknown names are
 * kept, and passed to the function `unknown`. The condition may have any form, because it is not checked yet.
 */
export function renameInCondition(
  condition: unknown,
  names: Names,
  unknown: (name: UnknownName) => void = () => {},
  path: (string | number)[] = [],
): unknown {
  if (Array.isArray(condition))
    return condition.map((item, i) => renameInCondition(item, names, unknown, [...path, i]));
  if (typeof condition !== 'object' || condition === null) return condition;
  const entries = Object.entries(condition).map(([key, value]) => {
    const fieldPath = [...path, key];
    if (key === 'field' && typeof value === 'string')
      return [key, renameField(value, names, (name) => unknown({ ...name, path: fieldPath }))];
    // The value of a filter is data, even if it looks like a condition.
    return [key, key === 'value' ? value : renameInCondition(value, names, unknown, fieldPath)];
  });
  return Object.fromEntries(entries);
}

function renameField(field: string, names: Names, unknown: (name: Omit<UnknownName, 'path'>) => void): string {
  const [, prefix, kind, name] = CONDITION_FIELD.exec(field) ?? [];
  if (prefix === undefined || name === undefined || (kind !== 'segment' && kind !== 'topic')) return field;
  const replacement = names[kind].get(name) ?? names[kind].get(name.toLowerCase());
  if (replacement === undefined) unknown({ kind, name });
  return replacement === undefined ? field : prefix + replacement;
}

/** Returns the slugs of the segments in a condition of a file. */
export function listSegmentSlugs(condition: unknown): string[] {
  const names: string[] = [];
  const noNames = new Map<string, string>();
  renameInCondition(condition, { template: noNames, segment: noNames, topic: noNames }, ({ kind, name }) => {
    if (kind === 'segment') names.push(name);
  });
  return names;
}
