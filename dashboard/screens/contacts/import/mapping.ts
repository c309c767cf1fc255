/** The target of a column, in the form of the API. */
export type MappingTarget = string | null | { field: string; type?: 'infer' | 'string' };
export type Mapping = Record<string, MappingTarget>;

/** The maximum number of stored mappings. The oldest are removed first. */
const REMEMBERED_MAX = 20;

/** Returns the target field of a column; null if the column is skipped. */
export function getTargetField(target: MappingTarget | undefined): string | null {
  return typeof target === 'object' ? (target?.field ?? null) : (target ?? null);
}

/** Returns whether the import stores all values of a column as text. */
export function isImportedAsText(target: MappingTarget | undefined): boolean {
  return typeof target === 'object' && target?.type === 'string';
}

/** Changes the target of one column. Another column with the same target is skipped. */
export function withTarget(mapping: Mapping, header: string, field: string | null): Mapping {
  const others = Object.entries(mapping).map(([name, target]): [string, MappingTarget] => {
    const isSame = name !== header && field !== null && getTargetField(target) === field;
    return [name, isSame ? null : target];
  });
  return { ...Object.fromEntries(others), [header]: toTarget(field, isImportedAsText(mapping[header])) };
}

/** Returns the mapping with a column whose values are stored as text, or get the type that fits them. */
export function withImportAsText(mapping: Mapping, header: string, text: boolean): Mapping {
  return { ...mapping, [header]: toTarget(getTargetField(mapping[header]), text) };
}

function toTarget(field: string | null, text: boolean): MappingTarget {
  if (field === null) return null;
  return text && field.startsWith('data.') ? { field, type: 'string' } : field;
}

/** Mappings by the headers of their files, the latest last. */
type StoredMappings = [headers: string, mapping: Mapping][];

/** Returns the mapping that was last used for a file with these headers. */
export function recallMapping(stored: string | null, headers: readonly string[]): Mapping | undefined {
  return parseStoredMappings(stored).find(([name]) => name === createStorageKey(headers))?.[1];
}

/** Returns the mappings to store, as JSON, with this mapping for files with these headers. */
export function rememberMapping(stored: string | null, headers: readonly string[], mapping: Mapping): string {
  const others = parseStoredMappings(stored).filter(([name]) => name !== createStorageKey(headers));
  return JSON.stringify([...others, [createStorageKey(headers), mapping]].slice(-REMEMBERED_MAX));
}

function createStorageKey(headers: readonly string[]): string {
  return JSON.stringify(headers);
}

function parseStoredMappings(stored: string | null): StoredMappings {
  try {
    const pairs: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(pairs)
      ? (pairs.filter((pair) => Array.isArray(pair) && pair.length === 2) as StoredMappings)
      : [];
  } catch {
    // The stored value is not JSON.
    return [];
  }
}
