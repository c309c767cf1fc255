import { type GuardKind, isTextKind } from './interpolation-guard.ts';
import { parseTemplate, templateVariables } from './liquid.ts';
import { type FlatToken, tagText } from './liquid-tokens.ts';
import { plainExpression } from './plain-expression.ts';

/** The links of every message. They are never guarded, overridden or tracked. */
export const URL_VARIABLES = ['unsubscribeUrl', 'subscribeUrl', 'manageUrl', 'confirmUrl'] as const;

const SAFE_NAME = /^[\p{L}\p{N}_-]+$/u;

/** Returns the names that a template binds itself. Their values may come from any expression in it. */
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
 * Returns the names of contact data that an expression reads; `data.x` counts as `x`. `*` means an unknown name: a
 * local name, or a computed part of a path.
 */
export function outputNames(expression: string, locals: ReadonlySet<string>): string[] {
  const plain = plainExpression(expression);
  const paths = plain ? [plain.path] : templateVariables(parseTemplate(`{{ ${expression} }}`, 'plain'));
  return [...new Set(paths.map((path) => dataName(path, locals)))];
}

/** Returns the contact-data name of a path: its first part, or the second one after `data`. */
export function dataName(path: string[], locals: ReadonlySet<string> = new Set()): string {
  const [root = '*', second] = path;
  if (locals.has(root)) return '*';
  const name = root === 'data' ? (second ?? '*') : root;
  return SAFE_NAME.test(name) ? name : '*';
}

/**
 * Returns the expression with the guard of its context at the end, or before a last filter that produces markup. This
 * guard is the only place where a template learns which values are untrusted; `sources` are the sources of the
 * template's own names.
 */
export function guardExpression(expression: string, place: GuardKind, sources: LocalSources): string {
  if ((URL_VARIABLES as readonly string[]).includes(expression.trim())) return expression;
  const named = [...sourceNames(expression, sources)];
  if (!isTextKind(place)) return addGuard(expression, '__guard', [place, ...named]);
  // An unknown name is shown without a guard, because the library has untrusted values only in cleaned form anyway.
  const names = named.filter((name) => name !== '*');
  if (names.length === 0) return expression;
  const [, value, last] = MARKUP_FILTER.exec(expression) ?? [];
  if (value === undefined) return addGuard(expression, '__guard', [place, ...names]);
  return `${addGuard(value.trimEnd(), '__guard', [place, ...names])} ${last}`;
}

/** Returns the expression of an HTML body in which `raw` escapes nothing; untrusted values are escaped anyway. */
export function guardHtml(expression: string, place: GuardKind, sources: LocalSources): string {
  if (!isTextKind(place) || !/\|\s*raw\s*$/.test(expression)) return guardExpression(expression, place, sources);
  const names = [...sourceNames(expression, sources)];
  return names.length > 0 ? addGuard(expression, '__raw', names) : `${expression} | __raw`;
}

function addGuard(expression: string, filter: string, args: string[]): string {
  return `${expression} | ${filter}: ${args.map((arg) => `"${arg}"`).join(', ')}`;
}

/** Filters whose result the library does not escape. */
const MARKUP_FILTER = /^(.*)(\|\s*(?:escape|escape_once|xml_escape|newline_to_br)\s*)$/s;

/** The names of contact data from which a template's own names are derived. */
export type LocalSources = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Maximum depth of names that are derived from other names. Real templates need less. In a deeper template, every name
 * also has the source `*`, which means that any contact data may be in its value.
 */
const ROUNDS_MAX = 10;

/** Follows `assign`, `capture`, `for` and `tablerow` in any order, since a loop returns to earlier statements. */
export function localSources(tokens: FlatToken[]): LocalSources {
  const sources = new Map<string, Set<string>>();
  const bindings = bindingsOf(tokens);
  for (const { local } of bindings) sources.set(local, new Set([local]));
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let changed = false;
    for (const { local, paths } of bindings) {
      const known = sources.get(local) ?? new Set();
      const before = known.size;
      for (const path of paths) for (const name of namesOf(path, sources)) known.add(name);
      changed ||= known.size > before;
    }
    if (!changed) return sources;
  }
  for (const known of sources.values()) known.add('*');
  return sources;
}

/** A template's own name, and the paths of variables from which one statement derives it. */
interface Binding {
  local: string;
  paths: string[][];
}

function bindingsOf(tokens: FlatToken[]): Binding[] {
  const bindings: Binding[] = [];
  const captures: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'output' && captures.length > 0) {
      const paths = pathsOf(token.content);
      for (const local of captures) bindings.push({ local, paths });
    }
    if (token.kind !== 'tag') continue;
    if (token.content === 'endcapture') captures.pop();
    const [, tag = '', local, rest = ''] = BINDING.exec(tagText(token)) ?? [];
    if (local === undefined) continue;
    if (tag === 'capture') captures.push(local);
    const paths =
      tag === 'assign' ? pathsOf(rest.replace(/^\s*=/, '')) : tag === 'capture' ? [] : loopPaths(tag, token);
    bindings.push({ local, paths });
  }
  return bindings;
}

const BINDING = /^(assign|capture|for|tablerow|increment|decrement)\s+["']?([^\s=,"'%]+)["']?([\s\S]*)$/;

function loopPaths(tag: string, token: FlatToken): string[][] {
  if (tag !== 'for' && tag !== 'tablerow') return [];
  return templateVariables(parseTemplate(`{% ${tagText(token)} %}{% end${tag} %}`, 'plain'));
}

function pathsOf(expression: string): string[][] {
  const plain = plainExpression(expression.trim());
  return plain ? [plain.path] : templateVariables(parseTemplate(`{{ ${expression} }}`, 'plain'));
}

/**
 * Returns the names of contact data that an expression depends on, also through the template's own names; `*` means an
 * unknown name.
 */
function sourceNames(expression: string, sources: LocalSources): Set<string> {
  return new Set(pathsOf(expression).flatMap((path) => [...namesOf(path, sources)]));
}

function namesOf(path: string[], sources: LocalSources): Iterable<string> {
  return sources.get(path[0] ?? '*') ?? [dataName(path)];
}
