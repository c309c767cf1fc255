import type { Template } from 'liquidjs';
import { cleanUntrustedValue, guardValue } from './interpolation-guard.ts';
import { buildClickUrl, buildContactUrls, buildOpenPixelUrl } from './link-tokens.ts';
import { cutSegments, type LiquidScope, parseWholeTemplate, renderNodes, type TemplateSegment } from './liquid.ts';
import { type Escaping, OUTPUT_MAX_CHARS } from './liquid-engine.ts';
import { type PlainExpression, parsePlainExpression } from './plain-expression.ts';
import { escapeHtml, toPlainText } from './plain-value.ts';
import { TemplateError } from './template-error.ts';

/** The parts of a message's links: the address of the service, and the two tokens of `createLinkTokens`. */
export interface MessageUrls {
  baseUrl: string;
  track: string;
  manage: string;
}

/** A link of the service. `before` and `after` are the text around its token, which has a fixed length. */
export interface UrlHole {
  kind: 'url';
  token: 'track' | 'manage';
  before: string;
  after: string;
}

/** One plain variable. Rendering a plain variable needs no template library. */
export interface ValueHole extends PlainExpression {
  kind: 'value';
}

/** Any other output. The template library renders these nodes. */
export interface NodesHole {
  kind: 'nodes';
  nodes: Template[];
}

export type Hole = UrlHole | ValueHole | NodesHole;

/** A template as pieces: constant text, and holes that each message fills. */
export interface Part {
  escaping: Escaping;
  pieces: (string | Hole)[];
}

/** The input of one rendering. `scope`, the variables for the template library, is built only when a hole needs it. */
export interface Values {
  vars: LiquidScope;
  urls: MessageUrls;
  /** The names in `vars` whose values are untrusted. */
  untrusted: readonly string[];
  /**
   * The context for which untrusted values are cleaned before the library gets them, because no guard protects values
   * inside Liquid tags.
   */
  context: 'text' | 'subject';
  clicks: number;
  scope?: LiquidScope;
}

/** The path of each page for contacts, by the variable for its link. */
const PAGES: Record<string, string | undefined> = Object.assign(Object.create(null), {
  unsubscribeUrl: '/u/',
  subscribeUrl: '/s/',
  manageUrl: '/m/',
  confirmUrl: '/confirm/',
});
const CLICK = /^__click\[(\d+)\]$/;

/** Tags that make later nodes depend on earlier nodes. A template with such a tag is rendered as a whole. */
const STATEFUL_TAG = /\{%-?\s*(?:assign|capture|increment|decrement|cycle)\b|\boffset\s*:\s*continue\b/;
const JUMP_TAG = /\{%-?\s*(?:break|continue)\b/;

/**
 * Cuts a prepared template into pieces. If `whole` is true, the template becomes one hole that the library renders.
 * Tests compare the text that this hole renders with the text that the pieces render.
 */
export function cutTemplate(source: string, escaping: Escaping, { whole = false } = {}): Part {
  if (!source.includes('{')) return { escaping, pieces: source === '' ? [] : [source] };
  if (whole || STATEFUL_TAG.test(source) || JUMP_TAG.test(source))
    return { escaping, pieces: [{ kind: 'nodes', nodes: parseWholeTemplate(source, escaping) }] };
  return { escaping, pieces: mergeConstants(cutSegments(source, escaping).map(toPiece)) };
}

/** Renders a part to a string. @throws TemplateError */
export function renderPart({ escaping, pieces }: Part, values: Values): string {
  let out = '';
  for (const piece of pieces) {
    out += typeof piece === 'string' ? piece : renderHole(piece, escaping, values);
    if (out.length > OUTPUT_MAX_CHARS) throw new TemplateError('The template renders to more than is allowed.');
  }
  return out;
}

/** Returns the text that fills a hole of the content, escaped as the part requires. */
export function renderHole(hole: Hole, escaping: Escaping, values: Values): string {
  switch (hole.kind) {
    case 'value': {
      const text = renderValue(hole, values);
      return escaping === 'html' ? escapeHtml(text) : text;
    }
    case 'url': {
      const text = values.urls.baseUrl + hole.before + values.urls[hole.token] + hole.after;
      return escaping === 'html' ? escapeHtml(text) : text;
    }
    case 'nodes':
      // Renders with a copy of the scope, because `increment` changes the scope.
      return renderNodes(hole.nodes, escaping, Object.assign({}, getLibraryScope(values)));
  }
}

/** Returns the unescaped text of a plain variable. */
export function renderValue({ path, fallback, guard }: ValueHole, values: Values): string {
  let value: unknown = values.vars;
  for (const name of path) value = readOwnProperty(value, name);
  const untrusted =
    values.untrusted.length > 0 && guard?.names.some((name) => isUntrusted(name, values.untrusted)) === true;
  // A fallback replaces a value that is empty after cleaning. The library, which gets cleaned values, does the same.
  if (untrusted) value = cleanUntrustedValue(values.context, value);
  if (fallback !== undefined && isMissing(value)) value = fallback;
  const text = toPlainText(value);
  return guard ? guardValue(text, guard.kind, untrusted) : text;
}

function isUntrusted(name: string, untrusted: readonly string[]): boolean {
  return name === '*' ? untrusted.length > 0 : untrusted.includes(name);
}

/** Tells whether Liquid's filter `default` replaces a value. */
function isMissing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    ((typeof value === 'string' || Array.isArray(value)) && value.length === 0)
  );
}

function readOwnProperty(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/**
 * Returns the variables for the template library. The service's own names take precedence, so that no data can replace
 * them.
 */
function getLibraryScope(values: Values): LiquidScope {
  values.scope ??= Object.assign({}, cleanVars(values), buildContactUrls(values.urls.baseUrl, values.urls.manage), {
    __pixel: buildOpenPixelUrl(values.urls.baseUrl, values.urls.track),
    __click: Array.from({ length: values.clicks }, (_, n) => buildClickUrl(values.urls.baseUrl, values.urls.track, n)),
    __untrusted: values.untrusted,
  });
  return values.scope;
}

/** Returns the variables for the library, with cleaned untrusted values, also under `data`. */
function cleanVars({ vars, untrusted, context }: Values): LiquidScope {
  if (untrusted.length === 0) return vars;
  const cleaned = cleanValues(vars, untrusted, context);
  const { data } = vars;
  if (typeof data === 'object' && data !== null) cleaned.data = cleanValues(data, untrusted, context);
  return cleaned;
}

function cleanValues(values: object, names: readonly string[], context: Values['context']): LiquidScope {
  const cleaned: LiquidScope = { ...values };
  for (const name of names)
    if (Object.hasOwn(cleaned, name)) cleaned[name] = cleanUntrustedValue(context, cleaned[name]);
  return cleaned;
}

function toPiece(segment: TemplateSegment): string | Hole {
  if (segment.kind === 'text') return segment.text;
  if (segment.kind === 'block') return { kind: 'nodes', nodes: segment.nodes() };
  return (
    parseServiceHole(segment.content) ?? parsePlainHole(segment.content) ?? { kind: 'nodes', nodes: segment.nodes() }
  );
}

/**
 * Returns the hole for a link of the service: a click link or the open pixel, which `prepareContent` writes, or a page
 * such as `unsubscribeUrl`, which the author may write, too. Undefined for any other output.
 */
function parseServiceHole(content: string): UrlHole | undefined {
  const click = CLICK.exec(content)?.[1];
  if (click !== undefined) return { kind: 'url', token: 'track', before: '/c/', after: `/${click}` };
  if (content === '__pixel') return { kind: 'url', token: 'track', before: '/o/', after: '.gif' };
  const page = PAGES[content];
  return page ? { kind: 'url', token: 'manage', before: page, after: '' } : undefined;
}

/**
 * Returns the hole for a plain variable. Undefined for the service's own names, which the library renders from its
 * scope.
 */
function parsePlainHole(content: string): ValueHole | undefined {
  const plain = parsePlainExpression(content);
  const root = plain?.path[0] ?? '';
  return plain && !PAGES[root] && !root.startsWith('__') ? { kind: 'value', ...plain } : undefined;
}

function mergeConstants(pieces: (string | Hole)[]): (string | Hole)[] {
  const merged: (string | Hole)[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece;
    else if (piece !== '') merged.push(piece);
  }
  return merged;
}
