import { type Data, isPlainObject } from '../filters/data-values.ts';
import { markUntrusted, type Sourced, type Taken } from '../strangers/provenance.ts';
import {
  type Expression,
  evaluateExpression,
  expressionsIn,
  pathsOf,
  replaceExpressions,
  UnreadableExpression,
  wholeExpression,
} from './expressions.ts';
import { plainText } from './plain-value.ts';

export interface InterpolateOptions {
  /** Whether values of strangers are put in. They are never part of an address or a header. */
  untrusted: 'keep' | 'leaveOut';
  /** Applied to each value before it is put in, e.g. `encodeURIComponent`; `before` is the text that it comes after. */
  encode?: (text: string, before: string) => string;
}

/**
 * Puts the values of expressions into a text. A missing one is its fallback, else empty; objects become JSON. Source:
 * contract §7.6.
 */
export function interpolate(template: string, variables: Sourced<Data>, options: InterpolateOptions): string {
  if (!template.includes('{{')) return template;
  const { encode = (text: string) => text } = options;
  return replaceExpressions(template, (expression, before) => {
    const value = evaluate(expression, variables, options);
    if (value === UNREADABLE) return undefined;
    const text = plainText(value);
    return encode(text === '' ? unquote(expression.fallback ?? '') : text, before);
  });
}

/** The value of an expression in a stored text that no new text may have: it stays as it is written. */
const UNREADABLE = Symbol('unreadable');

function evaluate(
  expression: Expression,
  variables: Sourced<Data>,
  { untrusted }: Pick<InterpolateOptions, 'untrusted'>,
): unknown {
  const { path } = expression;
  const leavesOut = untrusted === 'leaveOut' && variables.untrusted.size > 0;
  if (path !== undefined) {
    const left = leavesOut && isOfStranger(path.split('.'), variables.untrusted);
    return left ? undefined : lookUp(variables.values, path);
  }
  try {
    return evaluateExpression(expression, leavesOut ? withoutStrangers(variables) : variables.values);
  } catch (error) {
    if (error instanceof UnreadableExpression) return UNREADABLE;
    throw error;
  }
}

function withoutStrangers({ values, untrusted }: Sourced<Data>): Data {
  const left = without(values, untrusted);
  return isPlainObject(left.data) ? { ...left, data: without(left.data, untrusted) } : left;
}

function without(values: Data, names: ReadonlySet<string>): Data {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}

/**
 * Whether a text names values of strangers, at any place: also where there is no such value and a fallback stands in,
 * since the stranger chose that too.
 */
export function namesStranger(template: string, { untrusted }: Sourced<Data>): boolean {
  if (untrusted.size === 0) return false;
  return expressionsIn(template).some((expression) =>
    pathsOf(expression).some((path) => isOfStranger(path, untrusted)),
  );
}

/**
 * Puts variables into every string of a JSON value, and says whether it names values of strangers. A string that is one
 * expression and nothing else becomes the expression's own value, so numbers stay numbers; where it is missing and has
 * no fallback, null.
 */
export function interpolateJson(value: unknown, variables: Sourced<Data>): Taken {
  if (typeof value === 'string')
    return { value: interpolateWhole(value, variables), untrusted: namesStranger(value, variables) };
  if (value === null || typeof value !== 'object') return { value, untrusted: false };
  if (Array.isArray(value)) {
    const items = value.map((item) => interpolateJson(item, variables));
    return { value: items.map((item) => item.value), untrusted: items.some((item) => item.untrusted) };
  }
  const fields = interpolateFields(value as Data, variables);
  return { value: fields.values, untrusted: fields.untrusted.size > 0 };
}

/** `interpolateJson` of each field, with the names of those that name values of strangers. */
export function interpolateFields(fields: Readonly<Data>, variables: Sourced<Data>): Sourced<Data> {
  const taken = Object.entries(fields).map(([name, item]) => ({ name, ...interpolateJson(item, variables) }));
  return markUntrusted(
    Object.fromEntries(taken.map(({ name, value }) => [name, value])),
    taken.flatMap(({ name, untrusted }) => (untrusted ? name : [])),
  );
}

function interpolateWhole(text: string, variables: Sourced<Data>): unknown {
  const expression = wholeExpression(text);
  if (!expression) return interpolate(text, variables, { untrusted: 'keep' });
  const value = evaluate(expression, variables, { untrusted: 'keep' });
  if (value === UNREADABLE) return text;
  if (value !== undefined && value !== null && value !== '') return value;
  return interpolate(text.trim(), variables, { untrusted: 'keep' }) || (value ?? null);
}

/** `name` and `data.name` are one; all of `data` holds what is a stranger's, and a computed name may be any. */
function isOfStranger([root = '', second]: readonly string[], untrusted: ReadonlySet<string>): boolean {
  if (root === '*') return untrusted.size > 0;
  if (root !== 'data') return untrusted.has(root);
  return second === undefined || second === '*' ? untrusted.size > 0 : untrusted.has(second);
}

function unquote(fallback: string): string {
  const text = fallback.trim();
  const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(text);
  return quoted ? (quoted[1] ?? quoted[2] ?? '') : text;
}

/** Own properties only: a name such as `constructor` finds nothing. */
function lookUp(variables: Data, path: string): unknown {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Data)[key];
  }
  return value;
}
