import { type Data, isPlainObject } from '../filters/data-values.ts';
import { markUntrusted, type Sourced, type SourcedValue } from '../provenance/provenance.ts';
import {
  type Expression,
  evaluateExpression,
  listExpressions,
  listPaths,
  readWholeExpression,
  replaceExpressions,
  UnreadableExpression,
} from './expressions.ts';
import { toPlainText } from './plain-value.ts';

export interface InterpolateOptions {
  /**
   * Whether untrusted values are inserted (`keep`), or treated as missing (`omit`). Addresses and headers must not
   * contain untrusted values.
   */
  untrusted: 'keep' | 'omit';
  /**
   * Encodes each value before it is inserted. `before` is the text before the value, `source` the expression without
   * its braces, and `value` the value before its conversion to text.
   */
  encode?: (text: string, before: string, source: string, value: unknown) => string;
}

/**
 * Inserts the values of expressions into a text. A missing value is replaced by the fallback of its expression, or by
 * an empty text. Objects become JSON. Source: contract §7.6 Webhooks and expressions.
 */
export function interpolate(template: string, variables: Sourced<Data>, options: InterpolateOptions): string {
  if (!template.includes('{{')) return template;
  const { encode = (text: string) => text } = options;
  return replaceExpressions(template, (expression, before) => {
    const value = evaluate(expression, variables, options);
    if (value === UNREADABLE) return undefined;
    const text = toPlainText(value);
    return encode(text === '' ? unquote(expression.fallback ?? '') : text, before, expression.source, value);
  });
}

/**
 * The result for an expression that cannot be read. Only text that an earlier release stored can contain such an
 * expression, which is kept as text.
 */
const UNREADABLE = Symbol('unreadable');

function evaluate(
  expression: Expression,
  variables: Sourced<Data>,
  { untrusted }: Pick<InterpolateOptions, 'untrusted'>,
): unknown {
  const { path } = expression;
  const omits = untrusted === 'omit' && variables.untrusted.size > 0;
  if (path !== undefined) {
    const isOmitted = omits && isUntrustedPath(path.split('.'), variables.untrusted);
    return isOmitted ? undefined : readTemplateVariable(variables.values, path);
  }
  try {
    return evaluateExpression(expression, omits ? omitUntrusted(variables) : variables.values);
  } catch (error) {
    if (error instanceof UnreadableExpression) return UNREADABLE;
    throw error;
  }
}

/**
 * Tells whether a text has expressions, and all of them read only missing or empty values without a fallback. In an
 * expression with filters, only missing values of `event` and `context` count. A missing value of the contact does not
 * count there, because a calculation such as `{{ visits | plus: 1 }}` then starts at 0.
 */
export function hasOnlyMissingValues(text: string, values: Data): boolean {
  const expressions = listExpressions(text);
  return expressions.length > 0 && expressions.every((expression) => isMissing(expression, values));
}

function isMissing(expression: Expression, values: Data): boolean {
  const { path, fallback, source } = expression;
  if (unquote(fallback ?? '') !== '') return false;
  if (path !== undefined) return toPlainText(readTemplateVariable(values, path)) === '';
  const paths = /\?\?|\|\s*default\b/.test(source) ? [] : listPaths(expression);
  const isOutsideContact = ([root = '']: string[]) => root === 'event' || root === 'context';
  return paths.length > 0 && paths.every((path) => isOutsideContact(path) && isNothing(readPath(values, path)));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/**
 * Returns the value at a path as Liquid does, up to the first computed part of the path. For `size`, returns the value
 * whose size is read.
 */
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

function omitUntrusted({ values, untrusted }: Sourced<Data>): Data {
  const trustedValues = omitNames(values, untrusted);
  return isPlainObject(trustedValues.data)
    ? { ...trustedValues, data: omitNames(trustedValues.data, untrusted) }
    : trustedValues;
}

function omitNames(values: Data, names: ReadonlySet<string>): Data {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}

/**
 * Tells whether an expression of the text reads an untrusted value. The result is also true if the value is missing and
 * a fallback is used, because the untrusted caller decided to leave the value out.
 */
export function readsUntrustedValue(template: string, { untrusted }: Sourced<Data>): boolean {
  if (untrusted.size === 0) return false;
  return listExpressions(template).some((expression) =>
    listPaths(expression).some((path) => isUntrustedPath(path, untrusted)),
  );
}

/**
 * Inserts variables into every string of a JSON value, and tells whether its expressions read untrusted values. A
 * string that is exactly one expression is replaced by the value itself, so a number is still a number. A missing value
 * without a fallback becomes null.
 */
export function interpolateJson(value: unknown, variables: Sourced<Data>): SourcedValue {
  if (typeof value === 'string')
    return { value: interpolateWhole(value, variables), untrusted: readsUntrustedValue(value, variables) };
  if (value === null || typeof value !== 'object') return { value, untrusted: false };
  if (Array.isArray(value)) {
    const items = value.map((item) => interpolateJson(item, variables));
    return { value: items.map((item) => item.value), untrusted: items.some((item) => item.untrusted) };
  }
  const fields = interpolateFields(value as Data, variables);
  return { value: fields.values, untrusted: fields.untrusted.size > 0 };
}

/** Applies `interpolateJson` to each field. A field whose expressions read untrusted values is untrusted. */
export function interpolateFields(fields: Readonly<Data>, variables: Sourced<Data>): Sourced<Data> {
  const results = Object.entries(fields).map(([name, item]) => ({ name, ...interpolateJson(item, variables) }));
  return markUntrusted(
    Object.fromEntries(results.map(({ name, value }) => [name, value])),
    results.flatMap(({ name, untrusted }) => (untrusted ? name : [])),
  );
}

function interpolateWhole(text: string, variables: Sourced<Data>): unknown {
  const expression = readWholeExpression(text);
  if (!expression) return interpolate(text, variables, { untrusted: 'keep' });
  const value = evaluate(expression, variables, { untrusted: 'keep' });
  if (value === UNREADABLE) return text;
  if (value !== undefined && value !== null && value !== '') return value;
  return interpolate(text.trim(), variables, { untrusted: 'keep' }) || (value ?? null);
}

/**
 * Tells whether a path may read an untrusted value. `name` and `data.name` are the same value. The path `data` alone
 * includes every untrusted value, and a computed name may be any name.
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

/** Returns the value at a path. Reads own properties only, so that a name such as `constructor` finds nothing. */
function readTemplateVariable(variables: Data, path: string): unknown {
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Data)[key];
  }
  return value;
}
