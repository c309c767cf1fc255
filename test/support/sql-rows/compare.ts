import { type Checker, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync';
import type { ReturnedColumn, SourceColumn } from './describe.ts';

/** Columns that may be NULL in their tables, but not in the rows that statements read. */
const NEVER_NULL: Record<string, string[]> = {
  // One statement sets them together with `confirmed_at`.
  confirmations: ['ip', 'text'],
  // Generated as the smaller one of two numbers, one of which is never NULL.
  projects: ['effective_bounce_guard', 'effective_complaint_guard'],
  // A campaign with `variant_test` has variants.
  campaigns: ['variants'],
};

/** Returns the differences between the columns that a statement returns and the type that the code asserts. */
export function compareRow(checker: Checker, row: Type, columns: ReturnedColumn[], text: string): string[] {
  const returned = new Map(columns.map((column) => [column.name, column]));
  const properties = checker.getPropertiesOfType(row);
  const names = new Set(properties.map(({ name }) => name));
  const isOpen = checker.getIndexInfosOfType(row).length > 0;
  return [
    ...columns.filter(({ name }) => !names.has(name) && !isOpen).map(({ name }) => `${name} is not in the type`),
    ...properties.flatMap((property) => {
      const { name } = property;
      const column = returned.get(name);
      if (!column) return property.flags & SymbolFlags.Optional ? [] : [`${name} is not returned`];
      const type = checker.getTypeOfSymbol(property);
      return type ? compareValue(checker, type, column, text).map((difference) => `${name} ${difference}`) : [];
    }),
  ];
}

function compareValue(checker: Checker, type: Type, column: ReturnedColumn, text: string): string[] {
  const members = type.isUnionType() && !(type.flags & TypeFlags.Boolean) ? type.getTypes() : [type];
  if (members.some(({ flags }) => flags & TypeFlags.AnyOrUnknown)) return [];
  const asserted = new Set(members.map((member) => kindOfType(checker, member)));
  const canBeNull = asserted.delete('null');
  asserted.delete('undefined');
  const accepts = (kind: string) => (column.kind === 'json' ? isJson(kind) : kind === column.kind);
  const wrong = [...asserted].filter((kind) => !accepts(kind));
  if (wrong.length > 0) return [`is ${column.kind}, not ${wrong.join(' | ')}`];
  return !canBeNull && column.source && mayBeNull(column.source, text) ? ['may be null'] : [];
}

/**
 * Tells whether a column may be NULL in a row: it may be in its table, or an outer join adds it, and no condition of
 * the statement excludes NULL.
 */
function mayBeNull({ table, column, notNull }: SourceColumn, text: string): boolean {
  if (notNull && !new RegExp(`LEFT JOIN ${table}\\b`).test(text)) return false;
  if (NEVER_NULL[table]?.includes(column)) return false;
  return !new RegExp(`\\b${column}"? (IS NOT NULL|[=<>]|IN\\b|BETWEEN)|[=<>] (\\w+\\.)?"?${column}\\b`).test(text);
}

function isJson(kind: string): boolean {
  return !/^(Date|Buffer|undefined)/.test(kind);
}

function kindOfType(checker: Checker, type: Type): string {
  const { flags } = type;
  if (flags & TypeFlags.Null) return 'null';
  if (flags & TypeFlags.VoidLike) return 'undefined';
  if (flags & TypeFlags.StringLike) return 'string';
  if (flags & TypeFlags.NumberLike) return 'number';
  if (flags & TypeFlags.BooleanLike) return 'boolean';
  if (flags & TypeFlags.AnyOrUnknown) return 'unknown';
  if (checker.isArrayType(type) && type.isTypeReference()) {
    const [element] = checker.getTypeArguments(type);
    const members = element?.isUnionType() && !(element.flags & TypeFlags.Boolean) ? element.getTypes() : [element];
    const kinds = members.flatMap((member) => (member ? [kindOfType(checker, member)] : []));
    return `${[...new Set(kinds)].filter((kind) => kind !== 'null').join(' | ')}[]`;
  }
  const name = type.getSymbol()?.name ?? '';
  return /^(Date|Buffer)$/.test(name) ? name : 'object';
}
