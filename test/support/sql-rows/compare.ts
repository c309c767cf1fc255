import { type Checker, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync';
import type { ReturnedColumn, SourceColumn } from './describe.ts';

/**
 * Columns that are never NULL in the rows of statements with these words, although the tables allow NULL. Each value is
 * the reason.
 */
const NEVER_NULL: Record<string, string> = {
  // One statement sets both columns.
  'confirmations.ip': 'confirmed_at IS NOT NULL',
  'confirmations.text': 'confirmed_at IS NOT NULL',
  // A campaign with a test has variants.
  'campaigns.variants': 'variant_test IS NOT NULL',
  // A generated column: the smaller of two numbers, one of which is never NULL.
  'projects.effective_bounce_guard': 'FROM projects',
  'projects.effective_complaint_guard': 'FROM projects',
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
  const asserted = new Set(members.map((member) => getTypeKind(checker, member)));
  const canBeNull = asserted.delete('null');
  asserted.delete('undefined');
  if (column.kind === 'json' && !members.every((member) => isJson(checker, member))) return ['is JSON, without Date'];
  const wrong = [...asserted].filter((kind) => column.kind !== 'json' && kind !== column.kind);
  if (wrong.length > 0) return [`is ${column.kind}, not ${wrong.join(' | ')}`];
  return !canBeNull && column.source && isNullable(column.source, text) ? ['may be null'] : [];
}

/**
 * Tells whether a column of a row may be NULL. It may be if its table allows NULL or an outer join adds it, and if no
 * condition excludes NULL. Only the words of the statement are read, so a condition in another part of it counts too.
 */
function isNullable({ table, column, notNull }: SourceColumn, text: string): boolean {
  if (notNull && !new RegExp(`LEFT JOIN ${table}\\b`).test(text)) return false;
  const words = NEVER_NULL[`${table}.${column}`];
  if (words && text.includes(words)) return false;
  return !new RegExp(`\\b${column}"? (IS NOT NULL|[=<>]|IN\\b|BETWEEN)|[=<>] (\\w+\\.)?"?${column}\\b`).test(text);
}

/** Tells whether JSON can contain every value of the type: it must not contain a Date or Buffer at any depth. */
function isJson(checker: Checker, type: Type, seen = new Set<number>()): boolean {
  if (seen.has(type.id)) return true;
  seen.add(type.id);
  if (type.isUnionType()) return type.getTypes().every((member) => isJson(checker, member, seen));
  if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return true;
  if (checker.isArrayType(type) && type.isTypeReference())
    return checker.getTypeArguments(type).every((element) => isJson(checker, element, seen));
  if (/^(Date|Buffer)$/.test(type.getSymbol()?.name ?? '')) return false;
  return checker.getPropertiesOfType(type).every((property) => {
    const value = checker.getTypeOfSymbol(property);
    return !value || isJson(checker, value, seen);
  });
}

function getTypeKind(checker: Checker, type: Type): string {
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
    const kinds = members.flatMap((member) => (member ? [getTypeKind(checker, member)] : []));
    return `${[...new Set(kinds)].filter((kind) => kind !== 'null').join(' | ')}[]`;
  }
  const name = type.getSymbol()?.name ?? '';
  return /^(Date|Buffer)$/.test(name) ? name : 'object';
}
