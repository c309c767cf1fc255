import { type GuardKind, isTextKind } from './interpolation-guard.ts';
import { listTemplateVariables, parseTemplate } from './liquid.ts';
import { type FlatToken, getTagText } from './liquid-tokens.ts';
import { parsePlainExpression } from './plain-expression.ts';

/**
 * Variables for the service's links, which exist in every message. No data overrides them, they need no guard, and
 * clicks on these links are not tracked.
 */
export const URL_VARIABLES = ['unsubscribeUrl', 'subscribeUrl', 'manageUrl', 'confirmUrl'] as const;

const SAFE_NAME = /^[\p{L}\p{N}_-]+$/u;

/**
 * Returns the names that a template defines itself, for example with `assign`. The value of such a name may come from
 * any expression in the template.
 */
export function findLocalNames(tokens: FlatToken[]): Set<string> {
  const locals = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'tag') continue;
    const definition = /^(?:assign|capture|for|tablerow|increment|decrement)\s+["']?([^\s=,"'%]+)/.exec(
      getTagText(token),
    );
    if (definition?.[1]) locals.add(definition[1]);
  }
  return locals;
}

/**
 * Returns the names of the contact data that an expression reads. `data.x` counts as `x`. `*` is an unknown name: a
 * name that the template defines, or a path with a computed part.
 */
export function listExpressionNames(expression: string, locals: ReadonlySet<string>): string[] {
  const plain = parsePlainExpression(expression);
  const paths = plain ? [plain.path] : listTemplateVariables(parseTemplate(`{{ ${expression} }}`, 'plain'));
  return [...new Set(paths.map((path) => getDataName(path, locals)))];
}

/** Returns the name of the contact data that a path reads: the first part of the path, or the part after `data`. */
export function getDataName(path: string[], locals: ReadonlySet<string> = new Set()): string {
  const [root = '*', second] = path;
  if (locals.has(root)) return '*';
  const name = root === 'data' ? (second ?? '*') : root;
  return SAFE_NAME.test(name) ? name : '*';
}

/**
 * Adds the guard of the output's context to an expression: a filter that cleans untrusted values. The guard comes last,
 * or before a last filter that produces markup. Only the guard knows which values are untrusted. `sources` says from
 * which contact data the template's own names are derived.
 */
export function guardExpression(expression: string, place: GuardKind, sources: LocalSources): string {
  if ((URL_VARIABLES as readonly string[]).includes(expression.trim())) return expression;
  const allNames = [...collectSourceNames(expression, sources)];
  if (!isTextKind(place)) return addGuard(expression, '__guard', [place, ...allNames]);
  // In a text, an unknown name needs no guard, because the template library only gets untrusted values that are already
  // cleaned.
  const names = allNames.filter((name) => name !== '*');
  if (names.length === 0) return expression;
  const [, value, last] = MARKUP_FILTER.exec(expression) ?? [];
  if (value === undefined) return addGuard(expression, '__guard', [place, ...names]);
  return `${addGuard(value.trimEnd(), '__guard', [place, ...names])} ${last}`;
}

/**
 * Guards an expression of an HTML body. A last filter `raw` turns escaping off, but untrusted values are escaped
 * anyway.
 */
export function guardHtml(expression: string, place: GuardKind, sources: LocalSources): string {
  if (!isTextKind(place) || !/\|\s*raw\s*$/.test(expression)) return guardExpression(expression, place, sources);
  const names = [...collectSourceNames(expression, sources)];
  return names.length > 0 ? addGuard(expression, '__raw', names) : `${expression} | __raw`;
}

function addGuard(expression: string, filter: string, args: string[]): string {
  return `${expression} | ${filter}: ${args.map((arg) => `"${arg}"`).join(', ')}`;
}

/**
 * Matches an expression whose last filter produces markup. The library does not escape the result of such an
 * expression.
 */
const MARKUP_FILTER = /^(.*)(\|\s*(?:escape|escape_once|xml_escape|newline_to_br)\s*)$/s;

/** For each name that the template defines: the names of the contact data from which its value is derived. */
export type LocalSources = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The maximum depth of names that are derived from other names. Real templates have less depth. In a deeper template,
 * every name also gets the source `*`, which means that its value may contain any contact data.
 */
const ROUNDS_MAX = 10;

/**
 * Finds the contact data from which a template's own names are derived. Follows `assign`, `capture`, `for` and
 * `tablerow` in any order, because a loop can return to earlier statements.
 */
export function findLocalSources(tokens: FlatToken[]): LocalSources {
  const sources = new Map<string, Set<string>>();
  const bindings = listBindings(tokens);
  for (const { local } of bindings) sources.set(local, new Set([local]));
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let changed = false;
    for (const { local, paths } of bindings) {
      const names = sources.get(local) ?? new Set();
      const before = names.size;
      for (const path of paths) for (const name of listSourceNames(path, sources)) names.add(name);
      changed ||= names.size > before;
    }
    if (!changed) return sources;
  }
  for (const names of sources.values()) names.add('*');
  return sources;
}

/** A name that a template defines, and the paths of variables from which one statement derives its value. */
interface Binding {
  local: string;
  paths: string[][];
}

function listBindings(tokens: FlatToken[]): Binding[] {
  const bindings: Binding[] = [];
  const captures: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'output' && captures.length > 0) {
      const paths = listPathsOf(token.content);
      for (const local of captures) bindings.push({ local, paths });
    }
    if (token.kind !== 'tag') continue;
    if (token.content === 'endcapture') captures.pop();
    const [, tag = '', local, rest = ''] = BINDING.exec(getTagText(token)) ?? [];
    if (local === undefined) continue;
    if (tag === 'capture') captures.push(local);
    const paths =
      tag === 'assign' ? listPathsOf(rest.replace(/^\s*=/, '')) : tag === 'capture' ? [] : listLoopPaths(tag, token);
    bindings.push({ local, paths });
  }
  return bindings;
}

const BINDING = /^(assign|capture|for|tablerow|increment|decrement)\s+["']?([^\s=,"'%]+)["']?([\s\S]*)$/;

function listLoopPaths(tag: string, token: FlatToken): string[][] {
  if (tag !== 'for' && tag !== 'tablerow') return [];
  return listTemplateVariables(parseTemplate(`{% ${getTagText(token)} %}{% end${tag} %}`, 'plain'));
}

function listPathsOf(expression: string): string[][] {
  const plain = parsePlainExpression(expression.trim());
  return plain ? [plain.path] : listTemplateVariables(parseTemplate(`{{ ${expression} }}`, 'plain'));
}

/**
 * Returns the names of the contact data on which an expression depends, also through names that the template defines.
 * `*` is an unknown name.
 */
function collectSourceNames(expression: string, sources: LocalSources): Set<string> {
  return new Set(listPathsOf(expression).flatMap((path) => [...listSourceNames(path, sources)]));
}

function listSourceNames(path: string[], sources: LocalSources): Iterable<string> {
  return sources.get(path[0] ?? '*') ?? [getDataName(path)];
}
