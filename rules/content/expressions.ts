/**
 * The expressions between `{{` and `}}` in the configs of steps: the outputs of Liquid, as templates have them
 * (contract §7.6 Webhooks and expressions). A path, with or without `?? fallback`, needs no parser, so most
 * expressions are read here.
 */

import type { z } from 'zod';
import { cutText } from '../cut-text.ts';
import type { Data } from '../filters/data-values.ts';
import { isParsedAsOlder } from '../stored-values.ts';
import { TimeLimitExceeded } from '../time-limit.ts';
import { FilterDefect } from './filter-defect.ts';
import { parseTemplate, renderBounded, templateVariables, unfinishedFault } from './liquid.ts';
import { rewriteDefaults } from './liquid-default.ts';
import { PUBLIC_ENGINES } from './liquid-engine.ts';
import { plainText } from './plain-value.ts';
import { TemplateError } from './template-error.ts';

const QUOTED = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'`;
const EXPRESSION = new RegExp(`\\{\\{((?:${QUOTED}|[^"'{}])*)\\}\\}`, 'gsu');
const WHOLE_EXPRESSION = new RegExp(`^\\s*${EXPRESSION.source}\\s*$`, 'su');

const NAME = '[\\p{L}\\p{N}_$-]+';
/** `path`, `path ?? word` or `path ?? "some words"`. */
const PLAIN = new RegExp(
  `^\\s*(?!-)(${NAME}(?:\\.${NAME})*)\\s*(?:\\?\\?((?:"[^"]*"|'[^']*'|[^{}|"'?]|\\?(?!\\?))*))?$`,
  'u',
);
/** Names with a special meaning in Liquid. */
const LITERAL = /^(?:true|false|nil|null|empty|blank|\d+(?:\.\d+)?)$/;
const COMPUTED = /\.(?:size|first|last)(?:\.|$)/;

/** One expression of a text. */
export interface Expression {
  /** The path of a plain variable. Undefined if Liquid has to read the expression. */
  path: string | undefined;
  fallback: string | undefined;
  /** The expression without its braces and whitespace control. */
  source: string;
}

/** Tells whether a value of a config has an expression at any depth. */
export function hasExpression(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasExpression);
}

/** Lists the expressions of a text. Braces that do not close are text. */
export function expressionsIn(text: string): Expression[] {
  return [...text.matchAll(EXPRESSION)].map(([, inner = '']) => readExpression(inner));
}

/** Returns the expression that is the whole text. Undefined if the text has more than one expression, or none. */
export function wholeExpression(text: string): Expression | undefined {
  const inner = WHOLE_EXPRESSION.exec(text)?.[1];
  return inner === undefined ? undefined : readExpression(inner);
}

/**
 * Replaces each expression of a text.
 * @param replace gets the text before the expression as it has become; undefined leaves the expression as written
 */
export function replaceExpressions(
  text: string,
  replace: (expression: Expression, before: string) => string | undefined,
): string {
  let out = '';
  let at = 0;
  const trimmed = trimAround(text);
  for (const match of trimmed.matchAll(EXPRESSION)) {
    out += trimmed.slice(at, match.index);
    out += replace(readExpression(match[1] ?? ''), out) ?? match[0];
    at = match.index + match[0].length;
  }
  return out + trimmed.slice(at);
}

/** Applies the whitespace control of Liquid, `{{-` and `-}}`. */
function trimAround(text: string): string {
  const left = text.includes('{{-') ? text.replace(/(?<!\s)\s+\{\{-/g, '{{-') : text;
  return left.includes('-}}') ? left.replace(/-\}\}\s+/g, '-}}') : left;
}

function readExpression(inner: string): Expression {
  const source = inner.replace(/^-/, '').replace(/-$/, '').trim();
  const [, path = '', fallback] = PLAIN.exec(source) ?? [];
  if (path === '' || LITERAL.test(path) || COMPUTED.test(path)) return { path: undefined, fallback: undefined, source };
  return { path, fallback, source };
}

/** Thrown for an expression that Liquid cannot read. Stored text may have such expressions, which stay text. */
export class UnreadableExpression extends Error {}

/**
 * Evaluates an expression that is not plain. It counts as missing if it exceeds the limits of Liquid, or if a value
 * does not fit a filter.
 * @throws UnreadableExpression
 */
export function evaluateExpression({ source }: Expression, values: Data): unknown {
  parseExpression(source);
  const written = rewriteDefaults(source);
  return jsonOf(evaluateByLibrary(written, values));
}

/** The library checks no types, so any of its errors may be caused by a value that does not fit. */
function evaluateByLibrary(source: string, values: Data): unknown {
  try {
    return renderBounded(() => PUBLIC_ENGINES.plain.evalValueSync(source, values));
  } catch (error) {
    if (error instanceof FilterDefect || !(error instanceof Error)) throw error;
    return undefined;
  }
}

/** Lists the paths that an expression reads; the computed part of a path is `*`. Empty if it cannot be read. */
export function pathsOf({ path, source }: Expression): string[][] {
  if (path !== undefined) return [path.split('.')];
  try {
    return templateVariables(parseExpression(source));
  } catch (error) {
    if (error instanceof UnreadableExpression) return [];
    throw error;
  }
}

function parseExpression(source: string) {
  try {
    return renderBounded(() => parseTemplate(`{{ ${source} }}`, 'plain'));
  } catch (error) {
    if (error instanceof TemplateError || error instanceof TimeLimitExceeded)
      throw new UnreadableExpression(error.message, { cause: error });
    throw error;
  }
}

/** Converts a result to JSON. Liquid's own values, such as `empty`, become text; a division by zero has no value. */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? value : plainText(value);
}

/**
 * Returns why the expressions of a text cannot be read, with line and column. Undefined if all can. Source: contract
 * §7.6 Webhooks and expressions.
 */
export function expressionFault(text: string): string | undefined {
  const tag = text.search(TAG);
  if (tag >= 0) return `Tags such as {% if %} are for templates; a config reads only {{ … }} ${positionIn(text, tag)}`;
  if (!text.includes('{{')) return undefined;
  let masked = '';
  let at = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    const before = text.slice(at, match.index);
    // A third brace is not part of Liquid. Templates refuse it, so it is passed to the parser here, too.
    const isTriple = before.endsWith('{');
    const { path, source } = readExpression(match[1] ?? '');
    const isPlain = !isTriple && path !== undefined;
    // Liquid overlooks such an end.
    const unfinished = path === undefined ? unfinishedFault(source) : undefined;
    if (unfinished !== undefined) return `${unfinished} ${positionIn(text, match.index)}`;
    masked += isTriple ? `${blankText(before.slice(0, -1))}{` : blankText(before);
    masked += isPlain ? blankText(match[0].replace(/[{}]/g, ' ')) : match[0];
    at = match.index + match[0].length;
  }
  masked += blankText(text.slice(at));
  try {
    renderBounded(() => parseTemplate(masked, 'plain'));
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return `${error.message} (line ${error.line}, column ${error.column})`;
  }
}

/** Matches a Liquid tag, which a config would store or send literally. */
const TAG = /\{%-?\s*[a-z]+\b[^%]*-?%\}/;

function positionIn(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `(line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`;
}

/** Replaces text by spaces, so that positions stay. Unclosed braces are kept, so that the parser reports them. */
function blankText(text: string): string {
  return text
    .split('{{')
    .map((part) => part.replace(/[^\n]/g, ' '))
    .join('{{');
}

/**
 * Returns an error for an expression or a tag in a text that takes no variables, such as the name of an event. It would
 * be compared or sent with its braces. Undefined for other text, also for single braces.
 */
export function unfilledFault(text: string): string | undefined {
  if (!text.includes('{{') && !text.includes('{%')) return undefined;
  const [[found] = TAG.exec(text) ?? []] = text.matchAll(EXPRESSION);
  return found === undefined ? undefined : `This text takes no variables: ${cutText(found, 60)} would stay as it is`;
}

/** Adds an issue for a text that takes no variables and has an expression or a tag. */
export function refuseUnfilled(text: string, ctx: z.RefinementCtx): void {
  if (isParsedAsOlder()) return;
  const message = unfilledFault(text);
  if (message !== undefined) ctx.addIssue({ code: 'custom', message });
}

/** Yields the errors of all text and keys in a value of a config, with their paths. */
export function* expressionFaults(
  value: unknown,
  path: (string | number)[] = [],
): Generator<{ path: (string | number)[]; message: string }> {
  if (typeof value === 'string') {
    const message = expressionFault(value);
    if (message !== undefined) yield { path, message };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* expressionFaults(item, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const message = unfilledFault(key);
      if (message !== undefined) yield { path: [...path, key], message };
      yield* expressionFaults(item, [...path, key]);
    }
  }
}
