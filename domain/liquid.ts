import { Liquid, type Template, type Token, Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs';
import { BoundExceeded, bounded } from './bounded.ts';
import { type GuardKind, guardValue } from './interpolation-guard.ts';
import { rewriteDefaults } from './liquid-default.ts';
import { escapeHtml, plainText } from './plain-value.ts';
import { TemplateError, type TemplateField } from './template-error.ts';

/** `html` escapes values, `plain` (subjects, text parts, links) does not. */
export type Escaping = 'html' | 'plain';

/** A body beyond this is refused: it is ten times what Gmail shows, and parsing must stay within its bound. */
export const TEMPLATE_MAX_CHARS = 1_000_000;
/** The most one part of a message may become. */
export const OUTPUT_MAX_CHARS = 2_000_000;
/** What filters may build in one rendering, in the library's own count (about characters). */
const MEMORY_LIMIT = 10_000_000;

/** No include, render, layout, block (there is nothing to include), nor liquid and echo (second ways to do one thing). */
const ALLOWED_TAGS = new Set(
  'assign break capture case comment continue cycle decrement for if increment raw tablerow unless #'.split(' '),
);

/** Tags that have an end. */
export const BLOCK_TAGS: ReadonlySet<string> = new Set('if unless case for tablerow capture comment raw'.split(' '));

/** Pure and cheap for their input. Left out: those that evaluate text as code (`where_exp`…) and what gives another result each time. */
const ALLOWED_FILTERS = new Set(
  (
    'abs append array_to_sentence_string at_least at_most base64_decode base64_encode capitalize ceil cgi_escape compact ' +
    'concat date date_to_long_string date_to_rfc822 date_to_string date_to_xmlschema default divided_by downcase escape ' +
    'escape_once find find_index first floor group_by has hmac_sha256 join json jsonify last lstrip map minus modulo ' +
    'newline_to_br normalize_whitespace number_of_words plus pop prepend push raw reject remove remove_first remove_last ' +
    'replace replace_first replace_last reverse round rstrip sha256 shift size slice slugify sort sort_natural split ' +
    'squish strip strip_html strip_newlines sum times to_integer truncate truncatewords uniq unshift upcase uri_escape ' +
    'url_decode url_encode where xml_escape'
  ).split(' '),
);

/** Filters whose cost is bounded by the length of one value: a template with these and no loop needs no outer bound. */
export const CHEAP_FILTERS: ReadonlySet<string> = new Set(
  'abs capitalize ceil date default divided_by downcase escape first floor last lstrip minus modulo plus raw round rstrip size strip times truncate upcase __guard __raw'.split(
    ' ',
  ),
);

export interface ParsedTemplate {
  nodes: Template[];
  escaping: Escaping;
}

/** What a template may read: plain JSON only, since the library calls functions it meets. */
export type Scope = Record<string, unknown>;

const engines = {
  html: engine('html', false),
  plain: engine('plain', false),
  htmlGuarded: engine('html', true),
  plainGuarded: engine('plain', true),
};

/**
 * Parses a template of a tenant; every fault of it is a TemplateError with line and column of the given source.
 * @throws TemplateError
 */
export function parseTemplate(source: string, escaping: Escaping, field: TemplateField = 'template'): ParsedTemplate {
  return { nodes: checkedParse(source, escaping, field), escaping };
}

/** Parses what this service made of a tenant's template that `parseTemplate` took: the guard filters are known here. */
export function parseGuarded(source: string, escaping: Escaping): ParsedTemplate {
  const nodes = engines[escaping === 'html' ? 'htmlGuarded' : 'plainGuarded'].parse(source);
  return { nodes, escaping };
}

/**
 * Renders parsed nodes. The library's limits hold; wrap the call in `renderBounded` where the nodes can take long.
 * @throws TemplateError when a limit is passed or a filter fails
 */
export function renderNodes(nodes: Template[], escaping: Escaping, scope: Scope): string {
  try {
    const out: unknown = engines[escaping].renderSync(nodes, scope);
    const text = typeof out === 'string' ? out : String(out ?? '');
    if (text.length > OUTPUT_MAX_CHARS) throw new TemplateError('The template renders to more than is allowed.');
    return text;
  } catch (error) {
    throw asTemplateError(error);
  }
}

/** Runs renderings that may take long within the outer bound. @throws TemplateError */
export function renderBounded<T>(work: () => T): T {
  try {
    return bounded(work);
  } catch (error) {
    if (error instanceof BoundExceeded)
      throw new TemplateError('The template takes too long to render.', { cause: error });
    throw error;
  }
}

/** Parses and renders at once, bounded: for what is rendered once (a link at click time, a preview). @throws TemplateError */
export function renderTemplate(source: string, escaping: Escaping, scope: Scope): string {
  return renderBounded(() => {
    const { nodes } = parseTemplate(source, escaping);
    return renderNodes(nodes, escaping, scope);
  });
}

/** The global variables a template reads, each as its path of names; a computed part of a path ends it. Sorted by use. */
export function templateVariables({ nodes, escaping }: ParsedTemplate): string[][] {
  const segments: unknown[][] = engines[escaping].globalVariableSegmentsSync(nodes);
  return segments.map((path) => {
    const stop = path.findIndex((part) => typeof part !== 'string' && typeof part !== 'number');
    return (stop < 0 ? path : [...path.slice(0, stop), '*']).map(String);
  });
}

/** The paths with the names of locals too, as the library writes them: to tell what only exists inside the template. */
export function allVariableRoots({ nodes, escaping }: ParsedTemplate): Set<string> {
  const segments: unknown[][] = engines[escaping].variableSegmentsSync(nodes);
  return new Set(segments.map((path) => String(path[0])));
}

/** One flat token of a template: text, an output, or a tag; offsets are those of the source. */
export interface FlatToken {
  kind: 'text' | 'output' | 'tag';
  begin: number;
  end: number;
  /** The expression of an output with `??` written as `default`, the name of a tag; empty for text. */
  content: string;
  /** `{{-` or `{%-`, `-}}` or `-%}`. */
  trimLeft: boolean;
  trimRight: boolean;
}

/** The flat tokens of a source that `parseTemplate` took. */
export function flatTokens(source: string): FlatToken[] {
  return tokenize(source).map((token) => {
    const { begin, end } = token;
    const none = { begin, end, content: '', trimLeft: false, trimRight: false };
    if (token.kind === TokenKind.HTML) return { ...none, kind: 'text' };
    const { trimLeft, trimRight } = token as TopLevelToken & { trimLeft: boolean; trimRight: boolean };
    const kind = token.kind === TokenKind.Output ? 'output' : 'tag';
    const content = kind === 'output' ? rewriteDefaults(tokenContent(token)) : tagName(token);
    return { ...none, kind, content, trimLeft, trimRight };
  });
}

function engine(escaping: Escaping, guarded: boolean): Liquid {
  const made = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: TEMPLATE_MAX_CHARS * 4, // Ours is checked before, in words; rewriting may lengthen a source.
    renderLimit: 200,
    memoryLimit: MEMORY_LIMIT,
    timezoneOffset: 0, // The same mail from every host, whatever its time zone.
    locale: 'en-US',
    ...(escaping === 'html' ? { outputEscape: escapeHtml } : {}),
  });
  for (const name of Object.keys(made.tags)) if (!ALLOWED_TAGS.has(name)) delete made.tags[name];
  for (const name of Object.keys(made.filters)) if (!ALLOWED_FILTERS.has(name)) made.unregisterFilter(name);
  registerEscapes(made, escaping);
  if (guarded) registerGuards(made);
  return made;
}

/** With escaping by default `| escape` would escape twice, and `| newline_to_br` would show its own tags. */
function registerEscapes(made: Liquid, escaping: Escaping): void {
  const escaped = escaping === 'html' ? escapeHtml : plainText;
  for (const name of ['escape', 'escape_once', 'xml_escape'])
    made.registerFilter(name, { raw: escaping === 'html', handler: (value: unknown) => escaped(value) });
  if (escaping === 'html')
    made.registerFilter('newline_to_br', {
      raw: true,
      handler: (value: unknown) => escapeHtml(value).replace(/\r?\n/g, '<br />\n'),
    });
  made.registerFilter('replace', boundedReplace);
}

/** The library counts what goes in; a short pattern and a long replacement make far more than that. */
function boundedReplace(value: unknown, pattern: unknown, replacement: unknown): string {
  const parts = plainText(value).split(plainText(pattern));
  const by = plainText(replacement);
  if (parts.length * by.length > OUTPUT_MAX_CHARS) throw new Error('replace makes more text than is allowed');
  return parts.join(by);
}

function registerGuards(made: Liquid): void {
  made.registerFilter('__guard', function (value: unknown, kind: GuardKind, ...names: string[]) {
    return guardValue(plainText(value), kind, namesUntrusted(this.context.environments, names));
  });
  made.registerFilter('__raw', {
    raw: true,
    handler(value: unknown, ...names: string[]) {
      return namesUntrusted(this.context.environments, names) ? escapeHtml(value) : plainText(value);
    },
  });
}

/** The names the public key wrote stand in the scope under `__untrusted`; `*` is any of them. */
function namesUntrusted(scope: object, names: string[]): boolean {
  const untrusted = '__untrusted' in scope ? scope.__untrusted : undefined;
  if (!Array.isArray(untrusted) || untrusted.length === 0) return false;
  return names.some((name) => name === '*' || untrusted.includes(name));
}

function checkedParse(source: string, escaping: Escaping, field: TemplateField): Template[] {
  if (source.length > TEMPLATE_MAX_CHARS)
    throw new TemplateError(`A template has at most ${TEMPLATE_MAX_CHARS} characters.`, { field });
  try {
    const tokens = outsideComments(tokenize(source));
    for (const token of tokens) checkToken(token);
    const edits = defaultEdits(tokens);
    return parseEdited(source, edits, escaping);
  } catch (error) {
    throw asTemplateError(error, field, source);
  }
}

/** Inside `{% comment %}` anything goes. */
function outsideComments(tokens: TopLevelToken[]): TopLevelToken[] {
  let depth = 0;
  return tokens.filter((token) => {
    const name = token.kind === TokenKind.Tag ? tagName(token) : '';
    if (name === 'comment') depth++;
    if (name === 'endcomment') depth--;
    return depth === 0;
  });
}

interface Edit {
  begin: number;
  end: number;
  text: string;
}

function defaultEdits(tokens: TopLevelToken[]): Edit[] {
  return tokens.flatMap((token) => {
    const content = token.kind === TokenKind.Output ? tokenContent(token) : '';
    if (!content.includes('??')) return [];
    const [begin, end] = contentRange(token);
    return [{ begin, end, text: rewriteDefaults(content) }];
  });
}

/** Parses the source with `edits` applied; where a fault lies behind an edit, its offset is led back to the source's. */
function parseEdited(source: string, edits: Edit[], escaping: Escaping): Template[] {
  let edited = '';
  let at = 0;
  for (const { begin, end, text } of edits) {
    edited += source.slice(at, begin) + text;
    at = end;
  }
  try {
    return engines[escaping].parse(edited + source.slice(at));
  } catch (error) {
    throw Object.assign(faultOf(error), { offset: originalOffset(edits, offsetOf(error)) });
  }
}

function originalOffset(edits: Edit[], offset: number): number {
  let shift = 0;
  for (const { begin, end, text } of edits) {
    if (begin + shift >= offset) break;
    shift += text.length - (end - begin);
  }
  return Math.max(0, offset - shift);
}

/** What the library lets pass in silence: text behind an expression, and variables where `cycle` would not guard them. */
function checkToken(token: TopLevelToken): void {
  if (token.kind === TokenKind.Output) {
    const reader = new Tokenizer(rewriteDefaults(tokenContent(token)));
    if (!isOneValue(reader.readFilteredValue().initial.postfix) || reader.remaining().trim() !== '')
      throw Object.assign(new Error('an output holds one value and its filters'), { offset: token.begin });
  } else if (token.kind === TokenKind.Tag && tagName(token) === 'cycle') {
    const bare = tokenContent(token)
      .slice('cycle'.length)
      .replace(/"[^"]*"|'[^']*'/g, '');
    if (/[A-Za-z_]/.test(bare))
      throw Object.assign(new Error('cycle takes literal texts only'), { offset: token.begin });
  }
}

/** `first name` is two values, of which the library would drop one. */
function isOneValue(postfix: Token[]): boolean {
  const binary = postfix.filter((token) => token.kind === TokenKind.Operator && token.getText().trim() !== 'not');
  const values = postfix.filter((token) => token.kind !== TokenKind.Operator);
  return values.length === binary.length + 1;
}

function tokenize(source: string): TopLevelToken[] {
  return new Tokenizer(source).readTopLevelTokens();
}

function contentRange(token: TopLevelToken): [number, number] {
  return (token as TopLevelToken & { contentRange: [number, number] }).contentRange;
}

function tokenContent(token: TopLevelToken): string {
  return token.input.slice(...contentRange(token));
}

function tagName(token: TopLevelToken): string {
  return (token as TopLevelToken & { name: string }).name;
}

/** The library's message without its own position and excerpt. */
function faultOf(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new Error(message.replace(/, line:\d+, col:\d+$/s, ''), { cause: error });
}

function offsetOf(error: unknown): number {
  const token: unknown = error instanceof Error && 'token' in error ? error.token : undefined;
  return typeof token === 'object' && token !== null && 'begin' in token ? Number(token.begin) : 0;
}

function asTemplateError(error: unknown, field?: TemplateField, source?: string): Error {
  if (error instanceof TemplateError || error instanceof BoundExceeded) return error;
  const fault = faultOf(error);
  if (source === undefined) return new TemplateError(fault.message, { field, cause: error });
  const offset = error instanceof Error && 'offset' in error ? Number(error.offset) : offsetOf(error);
  const before = source.slice(0, offset).split('\n');
  return new TemplateError(fault.message, {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    field,
    cause: error,
  });
}
