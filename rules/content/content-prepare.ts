import { quotedPrintable } from '../mime/quoted-printable.ts';
import { type LinkValue, type ScannedHtml, scanHtml } from './content-html.ts';
import { joinedOutputs } from './content-joints.ts';
import { composedAddress, trackedAddress, variableAddress } from './content-links.ts';
import { guardExpression, guardHtml, type LocalSources, localNames, localSources } from './content-names.ts';
import { PREHEADER_STYLE, textTemplate } from './content-text.ts';
import type { EmailTemplates, NullsOptional } from './email-text.ts';
import { type ParsedTemplate, parseTemplate, templateVariables } from './liquid.ts';
import { CHEAP_FILTERS } from './liquid-engine.ts';
import { COUNTED_LINK, type FlatToken, tagText } from './liquid-tokens.ts';

/** The templates of an email. Every template is required, so that no caller omits one by mistake. */
export interface AuthoredContent extends EmailTemplates {
  type: 'TRANSACTIONAL' | 'MARKETING';
}

/** A content to compile. Nullable templates may be omitted. */
export interface ContentSource extends NullsOptional<AuthoredContent> {
  trackOpens: boolean;
  trackClicks: boolean;
  /** The author's own text part, also a template; if absent, it is derived from the body. */
  text?: string | null;
}

/** Returns the templates of a content; with `tracked`, with pixel and counted links. */
export function contentSource(content: AuthoredContent, tracked: boolean): ContentSource & AuthoredContent {
  const { subject, body, preheader, type } = content;
  return { subject, body, preheader, type, trackOpens: tracked, trackClicks: tracked };
}

/** Lists all templates of a content. */
export function templatesOf({ subject, body, preheader, text }: ContentSource): string[] {
  const own = { subject, body, preheader: preheader ?? '' } satisfies EmailTemplates;
  return [...Object.values(own), text ?? ''];
}

/** Parses and checks each template, with the escaping of its position. @throws TemplateError */
export function parseTemplates(templates: NullsOptional<EmailTemplates>): Record<keyof EmailTemplates, ParsedTemplate> {
  return {
    subject: parseTemplate(templates.subject, 'plain', 'subject'),
    body: parseTemplate(templates.body, 'html', 'body'),
    preheader: parseTemplate(templates.preheader ?? '', 'html', 'preheader'),
  };
}

/**
 * Content that is ready to be cut into pieces. Everything that the service adds is in the sources as its own variables.
 */
export interface PreparedContent {
  subject: string;
  html: string;
  /** Undefined if the text part must be derived from each rendered HTML. */
  text: string | undefined;
  links: string[];
  /** The paths of all variables, in the form of `templateVariables`. */
  variables: string[][];
  needsUnsubscribe: boolean;
  /** True if rendering may take long, because of loops, costly filters or very many parts. */
  costly: boolean;
}

/**
 * Number of outputs and tags above which rendering may take noticeable time, even if all are plain variables. No
 * newsletter has as many.
 */
const MANY_TOKENS = 500;

const FOOTER =
  '<p style="margin:32px 0 0;font-family:sans-serif;font-size:12px;line-height:18px;color:#6b7280;text-align:center">' +
  'You receive this email because you subscribed. <a href="{{unsubscribeUrl}}" style="color:#6b7280">Unsubscribe</a></p>';
const FOOTER_TEXT = '\n\nUnsubscribe: {{unsubscribeUrl}}';
const PIXEL =
  '<img src="{{__pixel}}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0;overflow:hidden">';

/** Less than the 90,000 bytes on the wire before which the pixel must be, to allow for a preheader and for values. */
const PIXEL_BEFORE_BYTES = 80_000;
/** Approximate size of a counted link with its token. */
const LINK_BYTES = 160;
const VALUE_BYTES = 40;
/** Tags and filters whose result may be much longer than their source. */
const GROWS = /^\s*(?:for|tablerow)\b|\|\s*(?:raw|newline_to_br)\b/;

/** Checks the templates and writes links, footer and pixel into them, once per content. @throws TemplateError */
export function prepareContent(source: ContentSource): PreparedContent {
  const own = parseTemplates(source);
  const ownText = source.text ? parseTemplate(source.text, 'plain', 'text') : undefined;
  const parsed = [...Object.values(own), ...(ownText ? [ownText] : [])];
  const variables = new Map(parsed.map((template) => [template, templateVariables(template)]));
  const isMarketing = source.type === 'MARKETING';
  const namesLink = (template: ParsedTemplate) => variables.get(template)?.some(([root]) => root === 'unsubscribeUrl');
  const needsFooter = isMarketing && !namesLink(own.body);
  const rewriting = rewritingOf(source, own.body);
  return {
    subject: plainSource(own.subject, 'subject'),
    html: htmlOf(source, own.preheader, { rewriting, needsFooter }),
    text: ownText
      ? plainSource(ownText, 'text') + (isMarketing && !namesLink(ownText) ? FOOTER_TEXT : '')
      : deriveText(source.body, rewriting, needsFooter),
    links: [...new Set([...rewriting.links.values()].map((link) => link.address))],
    variables: [...variables.values()].flat(),
    needsUnsubscribe: isMarketing || parsed.some(namesLink),
    costly: parsed.some(isCostly),
  };
}

/** Follows the preheader, so that a mailbox does not fill the line with the start of the body. */
const PREHEADER_END = '&#847;&zwnj;&nbsp;'.repeat(60);

/**
 * Builds the HTML part. The preheader becomes a hidden part of the body before the body is analyzed, so that names
 * which the preheader assigns are known in the body. The text part is derived from the body alone.
 */
function htmlOf(
  source: ContentSource,
  preheader: ParsedTemplate,
  { rewriting, needsFooter }: { rewriting: Rewriting; needsFooter: boolean },
): string {
  if (preheader.source === '') return rewriteBody(source, rewriting, needsFooter);
  const hidden = `<div style="${PREHEADER_STYLE}">${textAsHtml(preheader)}${PREHEADER_END}</div>`;
  const { bodyBegin } = rewriting.scanned;
  const body = source.body.slice(0, bodyBegin) + hidden + source.body.slice(bodyBegin);
  const whole = { ...source, body };
  return rewriteBody(whole, rewritingOf(whole, parseTemplate(body, 'html', 'body')), needsFooter);
}

/** Converts a template with plain text to HTML. */
export function textAsHtml({ source, tokens }: ParsedTemplate): string {
  return tokens
    .map(({ kind, begin, end }) => {
      const words = source.slice(begin, end);
      return kind === 'text' ? words.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`) : words;
    })
    .join('');
}

/** Facts about a body before it is rewritten. */
interface Rewriting {
  tokens: FlatToken[];
  scanned: ScannedHtml;
  links: Map<number, Tracked>;
  sources: LocalSources;
  liquidOf: (token: FlatToken) => string;
}

function rewritingOf({ body, trackClicks }: ContentSource, { tokens }: ParsedTemplate): Rewriting {
  const sources = localSources(tokens);
  const pieces = joinedOutputs(body, tokens);
  const scanned = scanHtml(body, tokens);
  return {
    tokens,
    scanned,
    links: trackClicks ? trackLinks(scanned, localNames(tokens)) : new Map(),
    sources,
    liquidOf(token) {
      if (token.kind !== 'output') return body.slice(token.begin, token.end);
      const place = scanned.places.get(token.begin) ?? 'markup';
      const kind = place === 'text' && pieces.has(token.begin) ? 'piece' : place;
      return outputTag(token, guardHtml(token.content, kind, sources));
    },
  };
}

interface Tracked {
  index: number;
  address: string;
  link: LinkValue;
  /** Whether scheme or host come from variables, so that their values decide whether the link is tracked. */
  isComposed: boolean;
}

/**
 * Numbers the links. A click finds its link by this number, also in emails of older releases. So newer kinds of links
 * get the last numbers: first links that are one variable, then addresses of several parts.
 */
function trackLinks(scanned: ScannedHtml, locals: ReadonlySet<string>): Map<number, Tracked> {
  const tracked = new Map<number, Tracked>();
  const indexes = new Map<string, number>();
  for (const read of [trackedAddress, variableAddress, composedAddress])
    for (const link of scanned.links) {
      const address = tracked.has(link.begin) ? undefined : read(link, locals);
      if (address === undefined) continue;
      const index = indexes.get(address) ?? indexes.size;
      indexes.set(address, index);
      tracked.set(link.begin, { index, address, link, isComposed: read !== trackedAddress });
    }
  return tracked;
}

/** Returns the click link. For a composed address it is used only if the values form a web address. */
function clickSource(body: string, { index, link, isComposed }: Tracked, { tokens, liquidOf }: Rewriting) {
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

/** Applies replacements of ranges and insertions from left to right. Everything inside a replaced range is dropped. */
function rewriteBody({ body, trackOpens }: ContentSource, rewriting: Rewriting, needsFooter: boolean): string {
  const { tokens, scanned, links, liquidOf } = rewriting;
  const edits: { begin: number; end: number; text: string }[] = [];
  for (const [begin, link] of links)
    edits.push({ begin, end: link.link.end, text: clickSource(body, link, rewriting) });
  for (const token of tokens)
    if (token.kind === 'output') edits.push({ begin: token.begin, end: token.end, text: liquidOf(token) });
  for (const { begin, end } of scanned.unquoted)
    edits.push({ begin, end: begin, text: '"' }, { begin: end, end, text: '"' });
  const end = scanned.bodyEnd ?? body.length;
  const isEarly = trackOpens && mayBeClipped(body.slice(0, end), rewriting);
  const added = (needsFooter ? FOOTER : '') + (trackOpens && !isEarly ? PIXEL : '');
  if (added) edits.push({ begin: end, end, text: added });
  if (isEarly) edits.push({ begin: scanned.bodyBegin, end: scanned.bodyBegin, text: PIXEL });
  return applyEdits(body, edits);
}

/**
 * Tells whether the end of a body may come so late that Gmail clips it, which shows the first 102 kB of a message.
 * The pixel is then placed at the start. Loops and raw values may produce any size.
 */
function mayBeClipped(body: string, { tokens, links }: Rewriting): boolean {
  if (tokens.some(({ kind, content }) => kind !== 'text' && GROWS.test(content))) return true;
  if (body.length * 9 < PIXEL_BEFORE_BYTES) return false;
  const values = tokens.filter(({ kind }) => kind === 'output').length * VALUE_BYTES;
  return quotedPrintable(body).length + links.size * LINK_BYTES + values > PIXEL_BEFORE_BYTES;
}

function applyEdits(text: string, edits: { begin: number; end: number; text: string }[]): string {
  // An insertion comes before a replacement at the same place, and the longest replacement there covers the others.
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

function outputTag({ trimLeft, trimRight }: FlatToken, expression: string): string {
  return `{{${trimLeft ? '-' : ''} ${expression} ${trimRight ? '-' : ''}}}`;
}

/** Returns the source of a plain template, with `default` instead of `??`, and with guards. */
function plainSource({ source, tokens }: ParsedTemplate, place: 'subject' | 'text'): string {
  const sources = localSources(tokens);
  const pieces = joinedOutputs(source, tokens);
  const joined = place === 'subject' ? 'subjectPiece' : 'piece';
  return tokens
    .map((token) => {
      if (token.kind !== 'output') return source.slice(token.begin, token.end);
      return outputTag(token, guardExpression(token.content, pieces.has(token.begin) ? joined : place, sources));
    })
    .join('');
}

/** Matches Liquid that writes HTML into the text of the body, where the text part would show its tags. */
const WRITES_HTML = /^\s*tablerow\b|\|\s*(?:raw|newline_to_br)\b/;

function deriveText(body: string, { tokens, scanned, liquidOf }: Rewriting, needsFooter: boolean): string | undefined {
  const isText = ({ kind, begin }: FlatToken) => kind === 'tag' || scanned.places.get(begin) === 'text';
  if (tokens.some((token) => token.kind !== 'text' && isText(token) && WRITES_HTML.test(token.content)))
    return undefined;
  const text = textTemplate(body, tokens, liquidOf);
  return text === undefined ? undefined : text + (needsFooter ? FOOTER_TEXT : '');
}

function isCostly({ tokens }: ParsedTemplate): boolean {
  return tokens.filter((token) => token.kind !== 'text').length > MANY_TOKENS || tokens.some(isCostlyToken);
}

function isCostlyToken(token: FlatToken): boolean {
  if (token.kind === 'text') return false;
  if (token.kind === 'tag' && /^(for|tablerow|capture)$/.test(token.content)) return true;
  const liquid = token.kind === 'tag' ? tagText(token) : token.content;
  return [...liquid.matchAll(/\|\s*(\w+)/g)].some(([, name = '']) => !CHEAP_FILTERS.has(name));
}
