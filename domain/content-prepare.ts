import { type ScannedHtml, scanHtml } from './content-html.ts';
import { trackedAddress } from './content-links.ts';
import { guardExpression, localNames } from './content-names.ts';
import { textTemplate } from './content-text.ts';
import {
  CHEAP_FILTERS,
  type FlatToken,
  flatTokens,
  type ParsedTemplate,
  parseTemplate,
  templateVariables,
} from './liquid.ts';

export interface ContentSource {
  subject: string;
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
  trackOpens: boolean;
  trackClicks: boolean;
  /** The author's own text part, a template too; made from the body when absent. */
  text?: string | null;
}

/** Content ready to be cut into pieces: all that a rendering adds stands in the sources as variables of our own. */
export interface PreparedContent {
  subject: string;
  html: string;
  /** Undefined when the text part has to be made from each finished HTML. */
  text: string | undefined;
  links: string[];
  parsed: ParsedTemplate[];
  needsUnsubscribe: boolean;
  /** May take long to render: it has loops, costly filters, or very many parts. */
  costly: boolean;
}

/** More parts than any newsletter has; beyond it even plain variables can add up to something. */
const MANY_TOKENS = 500;

const FOOTER =
  '<p style="margin:32px 0 0;font-family:sans-serif;font-size:12px;line-height:18px;color:#6b7280;text-align:center">' +
  'You receive this email because you subscribed. <a href="{{unsubscribeUrl}}" style="color:#6b7280">Unsubscribe</a></p>';
const FOOTER_TEXT = '\n\nUnsubscribe: {{unsubscribeUrl}}';
const PIXEL =
  '<img src="{{__pixel}}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0;overflow:hidden">';

/** Checks the three templates and writes links, footer and pixel into them, once per content. @throws TemplateError */
export function prepareContent(source: ContentSource): PreparedContent {
  const subject = parseTemplate(source.subject, 'plain', 'subject');
  const body = parseTemplate(source.body, 'html', 'body');
  const ownText = source.text ? parseTemplate(source.text, 'plain', 'text') : undefined;
  const needsFooter = source.type === 'MARKETING' && !names(body).has('unsubscribeUrl');
  const tokens = flatTokens(source.body);
  const locals = localNames(tokens, source.body);
  const scanned = scanHtml(source.body, tokens);
  const links = source.trackClicks ? trackLinks(scanned, locals) : new Map<number, Tracked>();
  const liquidOf = (token: FlatToken) => guarded(source.body, token, scanned, locals);
  const parsed = ownText ? [subject, body, ownText] : [subject, body];
  return {
    subject: source.subject.includes('??') ? rewritten(source.subject) : source.subject,
    html: rewriteBody(source, tokens, scanned, { links, liquidOf, needsFooter }),
    text: ownText
      ? textOf(source.text ?? '', ownText, source.type)
      : derivedText(source.body, tokens, liquidOf, needsFooter),
    links: [...new Set([...links.values()].map((link) => link.address))],
    parsed,
    needsUnsubscribe: source.type === 'MARKETING' || parsed.some((part) => names(part).has('unsubscribeUrl')),
    costly: [source.subject, source.body, source.text ?? ''].some(isCostly),
  };
}

interface Tracked {
  index: number;
  address: string;
  end: number;
}

function trackLinks(scanned: ScannedHtml, locals: ReadonlySet<string>): Map<number, Tracked> {
  const tracked = new Map<number, Tracked>();
  const indexes = new Map<string, number>();
  for (const link of scanned.links) {
    const address = trackedAddress(link, locals);
    if (address === undefined) continue;
    const index = indexes.get(address) ?? indexes.size;
    indexes.set(address, index);
    tracked.set(link.begin, { index, address, end: link.end });
  }
  return tracked;
}

interface Rewriting {
  links: Map<number, Tracked>;
  liquidOf: (token: FlatToken) => string;
  needsFooter: boolean;
}

/** Replacements of ranges and insertions, applied from left to right; what lies inside a replaced range is gone. */
function rewriteBody(source: ContentSource, tokens: FlatToken[], scanned: ScannedHtml, rewriting: Rewriting): string {
  const { body } = source;
  const edits: { begin: number; end: number; text: string }[] = [];
  for (const [begin, { index, end }] of rewriting.links) edits.push({ begin, end, text: `{{__click[${index}]}}` });
  for (const token of tokens)
    if (token.kind === 'output') edits.push({ begin: token.begin, end: token.end, text: rewriting.liquidOf(token) });
  for (const { begin, end } of scanned.unquoted)
    edits.push({ begin, end: begin, text: '"' }, { begin: end, end, text: '"' });
  const added = (rewriting.needsFooter ? FOOTER : '') + (source.trackOpens ? PIXEL : '');
  const at = scanned.bodyEnd ?? body.length;
  if (added) edits.push({ begin: at, end: at, text: added });
  return applyEdits(body, edits);
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

function guarded(body: string, token: FlatToken, scanned: ScannedHtml, locals: ReadonlySet<string>): string {
  if (token.kind === 'tag') return body.slice(token.begin, token.end);
  const expression = guardExpression(token.content, scanned.places.get(token.begin) ?? 'markup', locals);
  return output(token, expression);
}

function output({ trimLeft, trimRight }: FlatToken, expression: string): string {
  return `{{${trimLeft ? '-' : ''} ${expression} ${trimRight ? '-' : ''}}}`;
}

/** A plain template with `??` written as `default`. */
function rewritten(source: string): string {
  return flatTokens(source)
    .map((token) => (token.kind === 'output' ? output(token, token.content) : source.slice(token.begin, token.end)))
    .join('');
}

function textOf(text: string, parsed: ParsedTemplate, type: ContentSource['type']): string {
  const footer = type === 'MARKETING' && !names(parsed).has('unsubscribeUrl') ? FOOTER_TEXT : '';
  return rewritten(text) + footer;
}

function derivedText(
  body: string,
  tokens: FlatToken[],
  liquidOf: Rewriting['liquidOf'],
  needsFooter: boolean,
): string | undefined {
  const text = textTemplate(body, tokens, liquidOf);
  return text === undefined ? undefined : text + (needsFooter ? FOOTER_TEXT : '');
}

function names(template: ParsedTemplate): Set<string> {
  return new Set(templateVariables(template).map(([root = '']) => root));
}

function isCostly(source: string): boolean {
  if (!source.includes('{')) return false;
  const tokens = flatTokens(source).filter((token) => token.kind !== 'text');
  return (
    tokens.length > MANY_TOKENS || tokens.some((token) => isCostlyToken(token, source.slice(token.begin, token.end)))
  );
}

function isCostlyToken(token: FlatToken, liquid: string): boolean {
  if (token.kind === 'tag' && /^(for|tablerow|capture)$/.test(token.content)) return true;
  return [...liquid.matchAll(/\|\s*(\w+)/g)].some(([, name = '']) => !CHEAP_FILTERS.has(name));
}
