import type { GuardKind } from './interpolation-guard.ts';

/** A plain variable, which may have a literal default and a guard. Most outputs in emails have this form. */
export interface PlainExpression {
  path: string[];
  fallback: string | undefined;
  guard: { kind: GuardKind; names: string[] } | undefined;
}

/** Words that are literals or operators in Liquid, not variables. */
const LITERALS = new Set(['true', 'false', 'nil', 'null', 'empty', 'blank', 'not', 'and', 'or', 'contains']);
const COMPUTED = new Set(['size', 'first', 'last', 'length']);

const NAME = '[A-Za-z_][A-Za-z0-9_-]*';
// A default with a backslash does not match, because only the library reads escape sequences.
const PLAIN = new RegExp(
  `^(${NAME}(?:\\.${NAME})*)` +
    `(?:\\s*\\|\\s*default:\\s*("[^"\\\\]*"|'[^'\\\\]*'))?` +
    `(?:\\s*\\|\\s*__guard:\\s*((?:"[^"]*"(?:,\\s*)?)+))?\\s*$`,
);

/** Reads the expression of an output if it is plain. Undefined for any other expression. */
export function parsePlainExpression(content: string): PlainExpression | undefined {
  const match = PLAIN.exec(content);
  if (!match) return undefined;
  const path = (match[1] ?? '').split('.');
  if (LITERALS.has(path[0] ?? '') || path.some((name) => COMPUTED.has(name))) return undefined;
  return { path, fallback: match[2]?.slice(1, -1), guard: readGuard(match[3]) };
}

function readGuard(args: string | undefined): PlainExpression['guard'] {
  if (!args) return undefined;
  const [kind, ...names] = [...args.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '');
  return { kind: kind as GuardKind, names };
}
