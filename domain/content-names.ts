import type { Place } from './content-html.ts';
import { parseTemplate, templateVariables } from './liquid.ts';
import { type FlatToken, tagText } from './liquid-tokens.ts';
import { plainExpression } from './plain-expression.ts';

/** The links every message has; they are never guarded, overridden or tracked. */
export const URL_VARIABLES = ['unsubscribeUrl', 'subscribeUrl', 'manageUrl'] as const;

const SAFE_NAME = /^[\p{L}\p{N}_-]+$/u;

/** Names a template binds itself, wherever: what they hold came from anywhere in it. */
export function localNames(tokens: FlatToken[]): Set<string> {
  const locals = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'tag') continue;
    const bound = /^(?:assign|capture|for|tablerow|increment|decrement)\s+["']?([^\s=,"'%]+)/.exec(tagText(token));
    if (bound?.[1]) locals.add(bound[1]);
  }
  return locals;
}

/**
 * The names of contact data that an expression reads, `data.x` being `x`; `*` stands for what cannot be told: a local
 * name, or a computed part of a path.
 */
export function outputNames(expression: string, locals: ReadonlySet<string>): string[] {
  const plain = plainExpression(expression);
  const paths = plain ? [plain.path] : templateVariables(parseTemplate(`{{ ${expression} }}`, 'plain'));
  return [...new Set(paths.map((path) => dataName(path, locals)))];
}

/** The contact-data name of a path: its first part, or the second behind `data`. */
export function dataName(path: string[], locals: ReadonlySet<string> = new Set()): string {
  const [root = '*', second] = path;
  if (locals.has(root)) return '*';
  const name = root === 'data' ? (second ?? '*') : root;
  return SAFE_NAME.test(name) ? name : '*';
}

/** The expression with the guard of its place at its end; in plain text only `raw` needs one. */
export function guardExpression(expression: string, place: Place, locals: ReadonlySet<string>): string {
  if ((URL_VARIABLES as readonly string[]).includes(expression.trim())) return expression;
  const isRaw = /\|\s*raw\s*$/.test(expression);
  if (place === 'text' && !isRaw) return expression;
  const names = outputNames(expression, locals).map((name) => `"${name}"`);
  const filter = place === 'text' ? '__raw' : '__guard';
  const args = place === 'text' ? names : [`"${place}"`, ...names];
  return args.length > 0 ? `${expression} | ${filter}: ${args.join(', ')}` : `${expression} | ${filter}`;
}
