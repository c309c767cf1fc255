import type { Data } from './data-values.ts';

const NAME = '[\\p{L}\\p{N}_$-]+';
/** `{{path}}`, `{{path ?? word}}` or `{{path ?? "some words"}}`; anything else between braces stays as it is written. */
const PLACEHOLDER = new RegExp(
  `\\{\\{\\s*(${NAME}(?:\\.${NAME})*)\\s*(?:\\?\\?((?:"[^"]*"|'[^']*'|[^{}|"'])*))?\\}\\}`,
  'gu',
);
const WHOLE_PLACEHOLDER = new RegExp(`^\\s*${PLACEHOLDER.source}\\s*$`, 'u');

export interface InterpolateOptions {
  /** Keys of contact data that are left out: what the public key wrote is never part of an address or a header. */
  without?: ReadonlySet<string>;
  /** Applied to each value before it is put in, e.g. `encodeURIComponent`. */
  encode?: (value: string) => string;
}

/** Puts variables into a text. A missing one is its fallback, else empty; objects become JSON. Source: spec "Workflow Webhook step". */
export function interpolate(template: string, variables: Data, options: InterpolateOptions = {}): string {
  const { without, encode = (value: string) => value } = options;
  return template.replace(PLACEHOLDER, (_, path: string, fallback: string | undefined) => {
    const value = without && isLeftOut(path, without) ? undefined : lookUp(variables, path);
    const text = textOf(value);
    return encode(text === '' ? unquoted(fallback ?? '') : text);
  });
}

/**
 * Puts variables into every string of a JSON value. A string that is one placeholder and nothing else becomes the variable's own value,
 * so numbers stay numbers; where it is missing and has no fallback, null.
 */
export function interpolateJson(value: unknown, variables: Data): unknown {
  if (typeof value === 'string') return interpolateWhole(value, variables);
  if (Array.isArray(value)) return value.map((item) => interpolateJson(item, variables));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolateJson(item, variables)]));
}

function interpolateWhole(text: string, variables: Data): unknown {
  const path = WHOLE_PLACEHOLDER.exec(text)?.[1];
  if (path === undefined) return interpolate(text, variables);
  const value = lookUp(variables, path);
  if (value !== undefined && value !== null && value !== '') return value;
  return interpolate(text, variables) || (value ?? null);
}

/** `name` and `data.name` are one; all of `data` holds what is left out. */
function isLeftOut(path: string, without: ReadonlySet<string>): boolean {
  const [root = '', second] = path.split('.');
  if (root !== 'data') return without.has(root);
  return second === undefined ? without.size > 0 : without.has(second);
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
