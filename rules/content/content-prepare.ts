import { encodeQuotedPrintable } from '../mime/quoted-printable.ts';
import { type LinkValue, type ScannedHtml, scanHtml } from './content-html.ts';
import { findJoinedOutputs } from './content-joints.ts';
import { findComposedAddress, findTrackedAddress, findVariableAddress } from './content-links.ts';
import { findLocalNames, findLocalSources, guardExpression, guardHtml, type LocalSources } from './content-names.ts';
import { PREHEADER_STYLE, toTextTemplate } from './content-text.ts';
import type { EmailTemplates, NullsOptional } from './email-text.ts';
import { listTemplateVariables, type ParsedTemplate, parseTemplate } from './liquid.ts';
import { CHEAP_FILTERS } from './liquid-engine.ts';
import { COUNTED_LINK, type FlatToken, getTagText } from './liquid-tokens.ts';

/**
 * The templates of an email, and its type. Every field is required, so that no caller omits a template by mistake.
 * `preheader` may be null.
 */
export interface AuthoredContent extends EmailTemplates {
  type: 'TRANSACTIONAL' | 'MARKETING';
}

/** A content to compile. Nullable templates may be omitted. */
export interface ContentSource extends NullsOptional<AuthoredContent> {
  trackOpens: boolean;
  trackClicks: boolean;
  /** The template of the text part. If it is absent, the text part is derived from the body. */
  text?: string | null;
}

/** Returns the source to compile. If `tracked` is true, opens and clicks are tracked. */
export function toContentSource(content: AuthoredContent, tracked: boolean): ContentSource & AuthoredContent {
  const { subject, body, preheader, type } = content;
  return { subject, body, preheader, type, trackOpens: tracked, trackClicks: tracked };
}

/** Lists all templates of a content. */
export function listContentTemplates({ subject, body, preheader, text }: ContentSource): string[] {
  const templates = { subject, body, preheader: preheader ?? '' } satisfies EmailTemplates;
  return [...Object.values(templates), text ?? ''];
}

/** Parses and checks subject, body and preheader, each with the escaping that it needs. @throws TemplateError */
export function parseTemplates(templates: NullsOptional<EmailTemplates>): Record<keyof EmailTemplates, ParsedTemplate> {
  return {
    subject: parseTemplate(templates.subject, 'plain', 'subject'),
    body: parseTemplate(templates.body, 'html', 'body'),
    preheader: parseTemplate(templates.preheader ?? '', 'html', 'preheader'),
  };
}

/**
 * Content that is ready to be cut into pieces. The templates contain everything that the service adds, as variables of
 * the service.
 */
export interface PreparedContent {
  subject: string;
  html: string;
  /** The template of the text part. Undefined if the text part must be derived from the HTML of each rendered email. */
  text: string | undefined;
  links: string[];
  /** The paths of all variables, in the form of `listTemplateVariables`. */
  variables: string[][];
  needsUnsubscribe: boolean;
  /** True if rendering may take long, because of loops, costly filters or very many parts. */
  costly: boolean;
}

/**
 * The number of outputs and tags above which rendering may take noticeable time, even if all are plain variables.
 * Newsletters have fewer.
 */
const MANY_TOKENS = 500;

const FOOTER =
  '<p style="margin:32px 0 0;font-family:sans-serif;font-size:12px;line-height:18px;color:#6b7280;text-align:center">' +
  'You receive this email because you subscribed. <a href="{{unsubscribeUrl}}" style="color:#6b7280">Unsubscribe</a></p>';
const FOOTER_TEXT = '\n\nUnsubscribe: {{unsubscribeUrl}}';
const PIXEL =
  '<img src="{{__pixel}}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0;overflow:hidden">';

/**
 * If the estimated size of the body exceeds this limit, the pixel is placed at the start, because Gmail clips long
 * messages. A pixel at the end must be in the first 90,000 bytes on the wire. This limit is lower, to leave space for a
 * preheader and for long values.
 */
const PIXEL_BEFORE_BYTES = 80_000;
/** The approximate size of a click link with its token, in bytes on the wire. */
const LINK_BYTES = 160;
/** The assumed size of the value of an output, in bytes on the wire. */
const VALUE_BYTES = 40;
/** Matches tags and filters whose result may be much longer than their source. */
const MAY_GROW = /^\s*(?:for|tablerow)\b|\|\s*(?:raw|newline_to_br)\b/;

/** Checks the templates and writes links, footer and pixel into them, once per content. @throws TemplateError */
export function prepareContent(source: ContentSource): PreparedContent {
  const templates = parseTemplates(source);
  const ownText = source.text ? parseTemplate(source.text, 'plain', 'text') : undefined;
  const allTemplates = [...Object.values(templates), ...(ownText ? [ownText] : [])];
  const variables = new Map(allTemplates.map((template) => [template, listTemplateVariables(template)]));
  const isMarketing = source.type === 'MARKETING';
  const usesUnsubscribeLink = (template: ParsedTemplate) =>
    variables.get(template)?.some(([root]) => root === 'unsubscribeUrl');
  const needsFooter = isMarketing && !usesUnsubscribeLink(templates.body);
  const analysis = analyzeBody(source, templates.body);
  const { html, links } = buildHtml(source, templates.preheader, { analysis, needsFooter });
  return {
    subject: guardPlainSource(templates.subject, 'subject'),
    html,
    text: ownText
      ? guardPlainSource(ownText, 'text') + (isMarketing && !usesUnsubscribeLink(ownText) ? FOOTER_TEXT : '')
      : deriveText(source.body, analysis, needsFooter),
    links: [...new Set([...links.values()].map((link) => link.address))],
    variables: [...variables.values()].flat(),
    needsUnsubscribe: isMarketing || allTemplates.some(usesUnsubscribeLink),
    costly: allTemplates.some(isCostly),
  };
}

/**
 * Invisible text after the preheader. Without it, an email client would show the start of the body after the preheader.
 */
const PREHEADER_END = '&#847;&zwnj;&nbsp;'.repeat(60);

/**
 * Builds the HTML part. The preheader is inserted into the body as hidden text before the body is analyzed, so that the
 * analysis of the body includes names that the preheader assigns. The text part is derived from the body without the
 * preheader.
 * @returns the HTML, and the links with the numbers that the HTML contains
 */
function buildHtml(
  source: ContentSource,
  preheader: ParsedTemplate,
  { analysis, needsFooter }: { analysis: BodyAnalysis; needsFooter: boolean },
): { html: string; links: BodyAnalysis['links'] } {
  if (preheader.source === '') return { html: rewriteBody(source, analysis, needsFooter), links: analysis.links };
  const hidden = `<div style="${PREHEADER_STYLE}">${convertTextToHtml(preheader)}${PREHEADER_END}</div>`;
  const { bodyBegin } = analysis.scanned;
  const body = source.body.slice(0, bodyBegin) + hidden + source.body.slice(bodyBegin);
  const whole = { ...source, body };
  const wholeAnalysis = analyzeBody(whole, parseTemplate(body, 'html', 'body'));
  return { html: rewriteBody(whole, wholeAnalysis, needsFooter), links: wholeAnalysis.links };
}

/** Converts a template with plain text to HTML. */
export function convertTextToHtml({ source, tokens }: ParsedTemplate): string {
  return tokens
    .map(({ kind, begin, end }) => {
      const part = source.slice(begin, end);
      return kind === 'text' ? part.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`) : part;
    })
    .join('');
}

/** Facts about a body before it is rewritten. */
interface BodyAnalysis {
  tokens: FlatToken[];
  scanned: ScannedHtml;
  /** The tracked links, by the offset at which their address starts. Empty if clicks are not tracked. */
  links: Map<number, TrackedLink>;
  sources: LocalSources;
  /** Returns the source of a token. The source of an output contains the guard of its context. */
  liquidOf: (token: FlatToken) => string;
}

function analyzeBody({ body, trackClicks }: ContentSource, { tokens }: ParsedTemplate): BodyAnalysis {
  const sources = findLocalSources(tokens);
  const pieces = findJoinedOutputs(body, tokens);
  const scanned = scanHtml(body, tokens);
  return {
    tokens,
    scanned,
    links: trackClicks ? trackLinks(scanned, findLocalNames(tokens)) : new Map(),
    sources,
    liquidOf(token) {
      if (token.kind !== 'output') return body.slice(token.begin, token.end);
      const context = scanned.contexts.get(token.begin) ?? 'markup';
      const kind = context === 'text' && pieces.has(token.begin) ? 'piece' : context;
      return formatOutput(token, guardHtml(token.content, kind, sources));
    },
  };
}

interface TrackedLink {
  index: number;
  address: string;
  link: LinkValue;
  /**
   * True if scheme or host come from variables. The values of these variables then determine whether the link is
   * tracked.
   */
  isComposed: boolean;
}

/**
 * Numbers the links. The URL of a click contains this number, also in emails that an older release sent, so a number
 * must never change its link. Kinds of links that were added later therefore get higher numbers: first links with a
 * constant host, then links that are one variable, then addresses composed of several parts.
 */
function trackLinks(scanned: ScannedHtml, locals: ReadonlySet<string>): Map<number, TrackedLink> {
  const tracked = new Map<number, TrackedLink>();
  const indexes = new Map<string, number>();
  for (const readAddress of [findTrackedAddress, findVariableAddress, findComposedAddress])
    for (const link of scanned.links) {
      const address = tracked.has(link.begin) ? undefined : readAddress(link, locals);
      if (address === undefined) continue;
      const index = indexes.get(address) ?? indexes.size;
      indexes.set(address, index);
      tracked.set(link.begin, { index, address, link, isComposed: readAddress !== findTrackedAddress });
    }
  return tracked;
}

/**
 * Returns the click link for a tracked link. If the address is composed, the click link is used only if the values form
 * a web address.
 */
function buildClickLink(body: string, { index, link, isComposed }: TrackedLink, { tokens, liquidOf }: BodyAnalysis) {
  if (!isComposed) return `{{__click[${index}]}}`;
  const { begin, end } = link;
  const address = applyEdits(
    body.slice(begin, end),
    tokens
      .filter((token) => token.kind === 'output' && token.begin >= begin && token.end <= end)
      .map((token) => ({ begin: token.begin - begin, end: token.end - begin, text: liquidOf(token) })),
  );
  return `{% ${COUNTED_LINK} ${index} %}${address}{% end${COUNTED_LINK} %}`;
}

/** Writes click links, guards, quotes, footer and pixel into a body. */
function rewriteBody({ body, trackOpens }: ContentSource, analysis: BodyAnalysis, needsFooter: boolean): string {
  const { tokens, scanned, links, liquidOf } = analysis;
  const edits: { begin: number; end: number; text: string }[] = [];
  for (const [begin, link] of links)
    edits.push({ begin, end: link.link.end, text: buildClickLink(body, link, analysis) });
  for (const token of tokens)
    if (token.kind === 'output') edits.push({ begin: token.begin, end: token.end, text: liquidOf(token) });
  for (const { begin, end } of scanned.unquoted)
    edits.push({ begin, end: begin, text: '"' }, { begin: end, end, text: '"' });
  const end = scanned.bodyEnd ?? body.length;
  const isPixelFirst = trackOpens && mayBeClipped(body.slice(0, end), analysis);
  const added = (needsFooter ? FOOTER : '') + (trackOpens && !isPixelFirst ? PIXEL : '');
  if (added) edits.push({ begin: end, end, text: added });
  if (isPixelFirst) edits.push({ begin: scanned.bodyBegin, end: scanned.bodyBegin, text: PIXEL });
  return applyEdits(body, edits);
}

/**
 * Tells whether a body may be too large for Gmail, which then clips its end. Gmail shows only the first 102 kB of a
 * message. In a body that may be clipped, the pixel is placed at the start. Loops and raw values may produce text of
 * any length.
 */
function mayBeClipped(body: string, { tokens, links }: BodyAnalysis): boolean {
  if (tokens.some(({ kind, content }) => kind !== 'text' && MAY_GROW.test(content))) return true;
  if (body.length * 9 < PIXEL_BEFORE_BYTES) return false;
  const values = tokens.filter(({ kind }) => kind === 'output').length * VALUE_BYTES;
  return encodeQuotedPrintable(body).length + links.size * LINK_BYTES + values > PIXEL_BEFORE_BYTES;
}

/**
 * Applies insertions and replacements of ranges from left to right. Drops edits inside a range that another edit
 * replaced.
 */
function applyEdits(text: string, edits: { begin: number; end: number; text: string }[]): string {
  // At the same offset, insertions come before replacements, and the longest replacement covers the other ones.
  edits.sort((a, b) => a.begin - b.begin || Number(a.end > a.begin) - Number(b.end > b.begin) || b.end - a.end);
  let out = '';
  let at = 0;
  for (const edit of edits) {
    if (edit.begin < at) continue;
    out += text.slice(at, edit.begin) + edit.text;
    at = edit.end;
  }
  return out + text.slice(at);
}

function formatOutput({ trimLeft, trimRight }: FlatToken, expression: string): string {
  return `{{${trimLeft ? '-' : ''} ${expression} ${trimRight ? '-' : ''}}}`;
}

/**
 * Returns the source of a template for plain text, with a guard in each output. `??` is written as the filter
 * `default`.
 */
function guardPlainSource({ source, tokens }: ParsedTemplate, context: 'subject' | 'text'): string {
  const sources = findLocalSources(tokens);
  const pieces = findJoinedOutputs(source, tokens);
  const joined = context === 'subject' ? 'subjectPiece' : 'piece';
  return tokens
    .map((token) => {
      if (token.kind !== 'output') return source.slice(token.begin, token.end);
      return formatOutput(token, guardExpression(token.content, pieces.has(token.begin) ? joined : context, sources));
    })
    .join('');
}

/** Matches Liquid that writes HTML tags. A text part derived from the template would show these tags as text. */
const WRITES_HTML = /^\s*tablerow\b|\|\s*(?:raw|newline_to_br)\b/;

function deriveText(
  body: string,
  { tokens, scanned, liquidOf }: BodyAnalysis,
  needsFooter: boolean,
): string | undefined {
  const isText = ({ kind, begin }: FlatToken) => kind === 'tag' || scanned.contexts.get(begin) === 'text';
  if (tokens.some((token) => token.kind !== 'text' && isText(token) && WRITES_HTML.test(token.content)))
    return undefined;
  const text = toTextTemplate(body, tokens, liquidOf);
  return text === undefined ? undefined : text + (needsFooter ? FOOTER_TEXT : '');
}

function isCostly({ tokens }: ParsedTemplate): boolean {
  return tokens.filter((token) => token.kind !== 'text').length > MANY_TOKENS || tokens.some(isCostlyToken);
}

function isCostlyToken(token: FlatToken): boolean {
  if (token.kind === 'text') return false;
  if (token.kind === 'tag' && /^(for|tablerow|capture)$/.test(token.content)) return true;
  const liquid = token.kind === 'tag' ? getTagText(token) : token.content;
  return [...liquid.matchAll(/\|\s*(\w+)/g)].some(([, name = '']) => !CHEAP_FILTERS.has(name));
}
