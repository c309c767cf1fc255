import { type Data, isPlainObject } from '../filters/data-values.ts';
import { markUntrusted, type Sourced, type SourcedValue } from '../provenance/provenance.ts';
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
  /** Whether untrusted values are inserted. They are never part of an address or a header. */
  untrusted: 'keep' | 'leaveOut';
  /**
   * Applied to each value before it is inserted. `before` is the text before the value, `source` the expression without
   * its braces, and `value` its value before it became text.
   */
  encode?: (text: string, before: string, source: string, value: unknown) => string;
}

/**
 * Inserts the values of expressions into a text. A missing value becomes its fallback, else empty; objects become JSON.
 * Source: contract §7.6 Webhooks and expressions.
 */
export function interpolate(template: string, variables: Sourced<Data>, options: InterpolateOptions): string {
  if (!template.includes('{{')) return template;
  const { encode = (text: string) => text } = options;
  return replaceExpressions(template, (expression, before) => {
    const value = evaluate(expression, variables, options);
    if (value === UNREADABLE) return undefined;
    const text = plainText(value);
    return encode(text === '' ? unquote(expression.fallback ?? '') : text, before, expression.source, value);
  });
}

/** The value of an expression that only old stored text may contain. The expression stays as text. */
const UNREADABLE = Symbol('unreadable');

function evaluate(
  expression: Expression,
  variables: Sourced<Data>,
  { untrusted }: Pick<InterpolateOptions, 'untrusted'>,
): unknown {
  const { path } = expression;
  const leavesOut = untrusted === 'leaveOut' && variables.untrusted.size > 0;
  if (path !== undefined) {
    const left = leavesOut && isUntrustedPath(path.split('.'), variables.untrusted);
    return left ? undefined : lookUp(variables.values, path);
  }
  try {
    return evaluateExpression(expression, leavesOut ? withoutUntrusted(variables) : variables.values);
  } catch (error) {
    if (error instanceof UnreadableExpression) return UNREADABLE;
    throw error;
  }
}

/**
 * Tells whether a text has expressions and all of them read missing or empty values, without a fallback. A calculation
 * with a value of the contact counts from nothing (`{{ visits | plus: 1 }}`), so only `event` and `context` count there.
 */
export function hasOnlyMissingValues(text: string, values: Data): boolean {
  const expressions = expressionsIn(text);
  return expressions.length > 0 && expressions.every((expression) => isMissing(expression, values));
}

function isMissing(expression: Expression, values: Data): boolean {
  const { path, fallback, source } = expression;
  if (unquote(fallback ?? '') !== '') return false;
  if (path !== undefined) return plainText(lookUp(values, path)) === '';
  const paths = /\?\?|\|\s*default\b/.test(source) ? [] : pathsOf(expression);
  const isFromOutside = ([root = '']: string[]) => root === 'event' || root === 'context';
  return paths.length > 0 && paths.every((path) => isFromOutside(path) && isNothing(readPath(values, path)));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the value at a path as Liquid does, up to the first computed part. `size` counts if there is a value. */
function readPath(values: Data, path: readonly string[]): unknown {
  let value: unknown = values;
  for (const key of path) {
    if (key === '*') return value;
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, key)) value = Reflect.get(value, key);
    else if (Array.isArray(value) && (key === 'first' || key === 'last')) value = value.at(key === 'first' ? 0 : -1);
    else if (key !== 'size') return undefined;
  }
  return value;
}

function withoutUntrusted({ values, untrusted }: Sourced<Data>): Data {
  const left = omitNames(values, untrusted);
  return isPlainObject(left.data) ? { ...left, data: omitNames(left.data, untrusted) } : left;
}

function omitNames(values: Data, names: ReadonlySet<string>): Data {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}

/**
 * Tells whether a text names untrusted values anywhere, also if the value is missing and a fallback is used, since
 * the untrusted caller chose that too.
 */
export function namesUntrustedValue(template: string, { untrusted }: Sourced<Data>): boolean {
  if (untrusted.size === 0) return false;
  return expressionsIn(template).some((expression) =>
    pathsOf(expression).some((path) => isUntrustedPath(path, untrusted)),
  );
}

/**
 * Inserts variables into every string of a JSON value, and tells whether it names untrusted values. A string that
 * consists of one expression becomes the expression's own value, so numbers stay numbers. A missing value without a
 * fallback becomes null.
 */
export function interpolateJson(value: unknown, variables: Sourced<Data>): SourcedValue {
  if (typeof value === 'string')
    return { value: interpolateWhole(value, variables), untrusted: namesUntrustedValue(value, variables) };
  if (value === null || typeof value !== 'object') return { value, untrusted: false };
  if (Array.isArray(value)) {
    const items = value.map((item) => interpolateJson(item, variables));
    return { value: items.map((item) => item.value), untrusted: items.some((item) => item.untrusted) };
  }
  const fields = interpolateFields(value as Data, variables);
  return { value: fields.values, untrusted: fields.untrusted.size > 0 };
}

/** Applies `interpolateJson` to each field, with the names of fields that name untrusted values. */
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

/**
 * Tells whether a path may be untrusted. `name` and `data.name` are the same; `data` includes every untrusted value; a
 * computed name may be any name.
 */
function isUntrustedPath([root = '', second]: readonly string[], untrusted: ReadonlySet<string>): boolean {
  if (root === '*') return untrusted.size > 0;
  if (root !== 'data') return untrusted.has(root);
  return second === undefined || second === '*' ? untrusted.size > 0 : untrusted.has(second);
}

function unquote(fallback: string): string {
  const text = fallback.trim();
  const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(text);
  return quoted ? (quoted[1] ?? quoted[2] ?? '') : text;
}

/** Looks up a path among own properties only, so that a name such as `constructor` finds nothing. */
function lookUp(variables: Data, path: string): unknown {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Data)[key];
  }
  return value;
}
