/**
 * The expressions between `{{` and `}}` in the configs of steps. Expressions are Liquid outputs, as in templates
 * (contract §7.6 Webhooks and expressions). Most expressions are only a path, with or without `?? fallback`, and are
 * read here without Liquid's parser.
 */

import type { z } from 'zod';
import { cutText } from '../cut-text.ts';
import type { Data } from '../filters/data-values.ts';
import { isParsingWithOlderRules } from '../stored-values.ts';
import { TimeLimitExceeded } from '../time-limit.ts';
import { FilterDefect } from './filter-defect.ts';
import { findUnfinishedEndError, listTemplateVariables, parseTemplate, runWithTemplateLimit } from './liquid.ts';
import { rewriteDefaults } from './liquid-default.ts';
import { PUBLIC_ENGINES } from './liquid-engine.ts';
import { toPlainText } from './plain-value.ts';
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

/** An expression in a text. */
export interface Expression {
  /** The path of a plain variable. Undefined if Liquid has to read the expression. */
  path: string | undefined;
  /** The text after `??`, with its quotes. Undefined if `path` is undefined or the expression has no `??`. */
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

/** Lists the expressions of a text. Braces that are not closed count as text. */
export function listExpressions(text: string): Expression[] {
  return [...text.matchAll(EXPRESSION)].map(([, inner = '']) => readExpression(inner));
}

/** Reads a text that is exactly one expression. Undefined for any other text. */
export function readWholeExpression(text: string): Expression | undefined {
  const inner = WHOLE_EXPRESSION.exec(text)?.[1];
  return inner === undefined ? undefined : readExpression(inner);
}

/**
 * Replaces each expression of a text.
 * @param replace returns the replacement, or undefined to keep the expression as written; `before` is the result so
 * far: all text before the expression, with its expressions replaced
 */
export function replaceExpressions(
  text: string,
  replace: (expression: Expression, before: string) => string | undefined,
): string {
  let out = '';
  let at = 0;
  const trimmed = applyWhitespaceControl(text);
  for (const match of trimmed.matchAll(EXPRESSION)) {
    out += trimmed.slice(at, match.index);
    out += replace(readExpression(match[1] ?? ''), out) ?? match[0];
    at = match.index + match[0].length;
  }
  return out + trimmed.slice(at);
}

/** Applies the whitespace control of Liquid, `{{-` and `-}}`. */
function applyWhitespaceControl(text: string): string {
  const left = text.includes('{{-') ? text.replace(/(?<!\s)\s+\{\{-/g, '{{-') : text;
  return left.includes('-}}') ? left.replace(/-\}\}\s+/g, '-}}') : left;
}

function readExpression(inner: string): Expression {
  const source = inner.replace(/^-/, '').replace(/-$/, '').trim();
  const [, path = '', fallback] = PLAIN.exec(source) ?? [];
  if (path === '' || LITERAL.test(path) || COMPUTED.test(path)) return { path: undefined, fallback: undefined, source };
  return { path, fallback, source };
}

/**
 * Liquid cannot read an expression. Text that an earlier release stored may contain such expressions, which are kept as
 * text.
 */
export class UnreadableExpression extends Error {}

/**
 * Evaluates an expression that is not only a path. Returns undefined, as for a missing value, if the evaluation exceeds
 * the limits of Liquid, or if a value does not fit a filter.
 * @throws UnreadableExpression
 */
export function evaluateExpression({ source }: Expression, values: Data): unknown {
  parseExpression(source);
  const expression = rewriteDefaults(source);
  return toJson(evaluateByLibrary(expression, values));
}

/**
 * Evaluates an expression with the template library. The library checks no types, so each of its errors may come from a
 * value that does not fit. For an error of the library, the function returns undefined.
 */
function evaluateByLibrary(source: string, values: Data): unknown {
  try {
    return runWithTemplateLimit(() => PUBLIC_ENGINES.plain.evalValueSync(source, values));
  } catch (error) {
    if (error instanceof FilterDefect || !(error instanceof Error)) throw error;
    return undefined;
  }
}

/**
 * Lists the paths that an expression reads. A computed part of a path is `*`. The list is empty if Liquid cannot read
 * the expression.
 */
export function listPaths({ path, source }: Expression): string[][] {
  if (path !== undefined) return [path.split('.')];
  try {
    return listTemplateVariables(parseExpression(source));
  } catch (error) {
    if (error instanceof UnreadableExpression) return [];
    throw error;
  }
}

function parseExpression(source: string) {
  try {
    return runWithTemplateLimit(() => parseTemplate(`{{ ${source} }}`, 'plain'));
  } catch (error) {
    if (error instanceof TemplateError || error instanceof TimeLimitExceeded)
      throw new UnreadableExpression(error.message, { cause: error });
    throw error;
  }
}

/**
 * Converts a result to JSON. Values of the library, such as `empty`, become text. The result of a division by zero
 * becomes undefined.
 */
function toJson(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? value : toPlainText(value);
}

/**
 * Returns an error message, with line and column, if a text contains an expression that cannot be read. Undefined if
 * there is no error. Source: contract §7.6 Webhooks and expressions.
 */
export function findExpressionError(text: string): string | undefined {
  const tag = text.search(TAG);
  if (tag >= 0)
    return `Tags such as {% if %} are for templates; a config reads only {{ … }} ${describePosition(text, tag)}`;
  if (!text.includes('{{')) return undefined;
  let masked = '';
  let at = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    const before = text.slice(at, match.index);
    // The third brace of `{{{` is kept for the parser, which refuses it, as in templates.
    const isTriple = before.endsWith('{');
    const { path, source } = readExpression(match[1] ?? '');
    const isPlain = !isTriple && path !== undefined;
    // Liquid ignores an unfinished end, such as `{{ name | }}`, so it is checked here.
    const unfinished = path === undefined ? findUnfinishedEndError(source) : undefined;
    if (unfinished !== undefined) return `${unfinished} ${describePosition(text, match.index)}`;
    masked += isTriple ? `${blankText(before.slice(0, -1))}{` : blankText(before);
    masked += isPlain ? blankText(match[0].replace(/[{}]/g, ' ')) : match[0];
    at = match.index + match[0].length;
  }
  masked += blankText(text.slice(at));
  try {
    runWithTemplateLimit(() => parseTemplate(masked, 'plain'));
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return `${error.message} (line ${error.line}, column ${error.column})`;
  }
}

/** Matches a Liquid tag, which a config would store or send literally. */
const TAG = /\{%-?\s*[a-z]+\b[^%]*-?%\}/;

function describePosition(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `(line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`;
}

/**
 * Replaces text by spaces, so that the parser's positions are correct. Unclosed braces are kept, so that the parser
 * reports them.
 */
function blankText(text: string): string {
  return text
    .split('{{')
    .map((part) => part.replace(/[^\n]/g, ' '))
    .join('{{');
}

/**
 * Returns an error message if a text that takes no variables, such as the name of an event, contains an expression or a
 * tag. An expression in such a text would be compared or sent as it is, with its braces. Undefined for any other text.
 * Single braces are allowed.
 */
export function findUnexpectedExpressionError(text: string): string | undefined {
  if (!text.includes('{{') && !text.includes('{%')) return undefined;
  const [[found] = TAG.exec(text) ?? []] = text.matchAll(EXPRESSION);
  return found === undefined ? undefined : `This text takes no variables: ${cutText(found, 60)} would stay as it is`;
}

/** Adds an issue for a text that takes no variables and has an expression or a tag. */
export function refuseExpressions(text: string, ctx: z.RefinementCtx): void {
  if (isParsingWithOlderRules()) return;
  const message = findUnexpectedExpressionError(text);
  if (message !== undefined) ctx.addIssue({ code: 'custom', message });
}

/** Yields the errors in all strings and keys of a config's value, with their paths. */
export function* listExpressionErrors(
  value: unknown,
  path: (string | number)[] = [],
): Generator<{ path: (string | number)[]; message: string }> {
  if (typeof value === 'string') {
    const message = findExpressionError(value);
    if (message !== undefined) yield { path, message };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* listExpressionErrors(item, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const message = findUnexpectedExpressionError(key);
      if (message !== undefined) yield { path: [...path, key], message };
      yield* listExpressionErrors(item, [...path, key]);
    }
  }
}
