import type { Data } from '../filters/data-values.ts';
import { type Sourced, sourced, type Taken } from '../strangers/provenance.ts';

const NAME = '[\\p{L}\\p{N}_$-]+';
/**
 * `{{path}}`, `{{path ?? word}}` or `{{path ?? "some words"}}`; anything else between braces stays as it is written.
 */
const PLACEHOLDER = new RegExp(
  `\\{\\{\\s*(${NAME}(?:\\.${NAME})*)\\s*(?:\\?\\?((?:"[^"]*"|'[^']*'|[^{}|"'])*))?\\}\\}`,
  'gu',
);
const WHOLE_PLACEHOLDER = new RegExp(`^\\s*${PLACEHOLDER.source}\\s*$`, 'u');

export interface InterpolateOptions {
  /** Whether values of strangers are put in. They are never part of an address or a header. */
  untrusted: 'keep' | 'leaveOut';
  /** Applied to each value before it is put in, e.g. `encodeURIComponent`. */
  encode?: (value: string) => string;
}

/**
 * Puts variables into a text. A missing one is its fallback, else empty; objects become JSON. Source: contract §7.6.
 */
export function interpolate(template: string, variables: Sourced<Data>, options: InterpolateOptions): string {
  const { encode = (value: string) => value } = options;
  return template.replace(PLACEHOLDER, (_, path: string, fallback: string | undefined) => {
    const left = options.untrusted === 'leaveOut' && isOfStranger(path, variables.untrusted);
    const value = left ? undefined : lookUp(variables.values, path);
    const text = textOf(value);
    return encode(text === '' ? unquoted(fallback ?? '') : text);
  });
}

/**
 * Whether a text names values of strangers, at any place: also where there is no such value and a fallback stands in,
 * since the stranger chose that too.
 */
export function namesStranger(template: string, { untrusted }: Sourced<Data>): boolean {
  if (untrusted.size === 0) return false;
  return [...template.matchAll(PLACEHOLDER)].some(([, path = '']) => isOfStranger(path, untrusted));
}

/**
 * Puts variables into every string of a JSON value, and says whether it names values of strangers. A string that is one
 * placeholder and nothing else becomes the variable's own value, so numbers stay numbers; where it is missing and has
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
  return sourced(
    Object.fromEntries(taken.map(({ name, value }) => [name, value])),
    taken.flatMap(({ name, untrusted }) => (untrusted ? name : [])),
  );
}

function interpolateWhole(text: string, variables: Sourced<Data>): unknown {
  const path = WHOLE_PLACEHOLDER.exec(text)?.[1];
  if (path === undefined) return interpolate(text, variables, { untrusted: 'keep' });
  const value = lookUp(variables.values, path);
  if (value !== undefined && value !== null && value !== '') return value;
  return interpolate(text, variables, { untrusted: 'keep' }) || (value ?? null);
}

/** `name` and `data.name` are one; all of `data` holds what is a stranger's. */
function isOfStranger(path: string, untrusted: ReadonlySet<string>): boolean {
  const [root = '', second] = path.split('.');
  if (root !== 'data') return untrusted.has(root);
  return second === undefined ? untrusted.size > 0 : untrusted.has(second);
}

function unquoted(fallback: string): string {
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

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
