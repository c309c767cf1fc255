import { Parser, QuoteType, Tokenizer } from 'htmlparser2';
import type { GuardKind } from './interpolation-guard.ts';
import { getDepthChange } from './liquid.ts';
import type { FlatToken } from './liquid-tokens.ts';

/**
 * The context of a Liquid output in an HTML body. `text` includes ordinary attributes, where escaping is enough for the
 * tenant's own values.
 */
export type HtmlContext = Exclude<GuardKind, 'piece' | 'subject' | 'subjectPiece'>;

/** The address of a link: the value of the attribute `href`, with its offsets in the source. */
export interface LinkValue {
  begin: number;
  end: number;
  quoted: boolean;
  /** The constant parts with decoded entities, and the Liquid outputs between them, in order. */
  parts: (string | FlatToken)[];
}

export interface ScannedHtml {
  /** The context of each Liquid output, by the offset of its start. */
  contexts: Map<number, HtmlContext>;
  links: LinkValue[];
  /**
   * Attribute values that contain Liquid and have no quotes. Such values need quotes, because a rendered value with a
   * space would start another attribute.
   */
  unquoted: { begin: number; end: number }[];
  /** The offset of the last `</body>` outside Liquid blocks. Undefined if the text has no such tag. */
  bodyEnd: number | undefined;
  /**
   * The offset for content that must come first in the body. It is after `<body>`, or else after the head, `<html>` or
   * the doctype. It is 0 if the text has no such tag. A tag inside a Liquid block does not count.
   */
  bodyBegin: number;
}

const LINK_ATTRIBUTES = new Set(['href', 'action', 'formaction', 'xlink:href', 'ping', 'cite', 'data', 'longdesc']);
const SOURCE_ATTRIBUTES = new Set(['src', 'background', 'poster', 'srcset', 'lowsrc', 'dynsrc']);

/**
 * Scans the HTML of a body that contains Liquid. All offsets refer to `source`. Never throws, because the HTML of
 * emails is often malformed.
 */
export function scanHtml(source: string, tokens: FlatToken[]): ScannedHtml {
  const liquid = tokens.filter((token) => token.kind !== 'text');
  const result: ScannedHtml = { contexts: new Map(), links: [], unquoted: [], bodyEnd: undefined, bodyBegin: 0 };
  for (const token of liquid) if (token.kind === 'output') result.contexts.set(token.begin, 'markup');
  scanRange(maskLiquid(source, liquid), 0, { source, liquid, result });
  return result;
}

interface Scan {
  source: string;
  liquid: FlatToken[];
  result: ScannedHtml;
}

/**
 * Replaces each character of Liquid by a character of Unicode's private use area, which has no meaning in HTML. The
 * offsets stay the same.
 */
function maskLiquid(source: string, liquid: FlatToken[]): string {
  let masked = '';
  let at = 0;
  for (const { begin, end } of liquid) {
    masked += source.slice(at, begin) + '\uE000'.repeat(end - begin);
    at = end;
  }
  return masked + source.slice(at);
}

function scanRange(masked: string, offset: number, scan: Scan): void {
  const { result } = scan;
  const setBodyBegin = (at: number) => {
    if (offset === 0 && countOpenBlocksAt(scan.liquid, at) === 0) result.bodyBegin = at;
  };
  let tag = '';
  let attribute = { name: '', begin: 0 };
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      ontext: (begin, end) => {
        if (!/^(script|style)$/.test(tag)) setContexts(scan, offset + begin, offset + end, 'text');
      },
      onopentagname: (begin, end) => {
        tag = masked.slice(begin, end).toLowerCase();
      },
      onclosetag: (begin, end) => {
        tag = '';
        if (masked.slice(begin, end).toLowerCase() === 'head') setBodyBegin(end + 1);
        if (masked.slice(begin, end).toLowerCase() === 'body' && countOpenBlocksAt(scan.liquid, offset + begin) === 0)
          result.bodyEnd = offset + masked.lastIndexOf('</', begin);
      },
      onattribname: (begin, end) => {
        attribute = { name: masked.slice(begin, end).toLowerCase(), begin: findValueBegin(masked, end) };
      },
      onattribend: (quote, index) => {
        const quoted = quote === QuoteType.Double || quote === QuoteType.Single;
        const end = quoted ? index - 1 : index;
        if (quote === QuoteType.NoValue || end <= attribute.begin) return;
        scanAttribute(scan, tag, attribute.name, { begin: offset + attribute.begin, end: offset + end, quoted });
      },
      // Outlook displays the content of conditional comments, so this content is scanned, too.
      oncomment: (begin, end, tail) => {
        const inner = masked.slice(begin, end - tail);
        if (/^\[if[^\]]*\]>/i.test(inner)) scanRange(inner, offset + begin, scan);
      },
      oncdata: () => {},
      onattribdata: () => {},
      onattribentity: () => {},
      ondeclaration: (_, end) => setBodyBegin(end + 1),
      onend: () => {},
      onopentagend: (at) => {
        if (tag === 'html' || tag === 'body') setBodyBegin(at + 1);
      },
      onprocessinginstruction: () => {},
      onselfclosingtag: () => {},
      ontextentity: () => {},
    },
  );
  tokenizer.write(masked);
  tokenizer.end();
}

function findValueBegin(masked: string, nameEnd: number): number {
  const before = /\s*=\s*["']?/y;
  before.lastIndex = nameEnd;
  return nameEnd + (before.exec(masked)?.[0].length ?? 0);
}

type ValueRange = Pick<LinkValue, 'begin' | 'end' | 'quoted'>;

function scanAttribute(scan: Scan, tag: string, name: string, range: ValueRange): void {
  const tokensInside = findTokensBetween(scan.liquid, range.begin, range.end);
  if (tokensInside.length > 0) setAttributeContexts(scan, name, range, tokensInside);
  if (!range.quoted && tokensInside.length > 0) scan.result.unquoted.push(range);
  const trackable = name === 'href' && (tag === 'a' || tag === 'area' || tag.startsWith('v:'));
  if (trackable) scan.result.links.push({ ...range, parts: splitValue(scan.source, range, tokensInside) });
}

function setAttributeContexts(scan: Scan, name: string, range: ValueRange, tokensInside: FlatToken[]): void {
  const address = LINK_ATTRIBUTES.has(name) ? 'link' : SOURCE_ATTRIBUTES.has(name) ? 'source' : undefined;
  const script = name === 'style' || name.startsWith('on');
  if (!address) {
    setContexts(scan, range.begin, range.end, script ? 'markup' : 'text');
    return;
  }
  // An output is at the start of the address unless constant text or another output comes before it. After a Liquid
  // tag, such as `if`, the output may still be at the start.
  let afterStart = scan.source.slice(range.begin, tokensInside[0]?.begin).trim() !== '';
  let maySkip = false;
  for (const token of tokensInside) {
    if (token.kind === 'tag') maySkip ||= !afterStart;
    if (token.kind !== 'output') continue;
    scan.result.contexts.set(token.begin, afterStart ? 'address' : address);
    afterStart ||= !maySkip;
  }
}

function setContexts({ liquid, result }: Scan, begin: number, end: number, context: HtmlContext): void {
  for (const token of findTokensBetween(liquid, begin, end))
    if (token.kind === 'output') result.contexts.set(token.begin, context);
}

function splitValue(source: string, { begin, end }: ValueRange, tokensInside: FlatToken[]): (string | FlatToken)[] {
  const parts: (string | FlatToken)[] = [];
  let at = begin;
  for (const token of tokensInside) {
    parts.push(decodeEntities(source.slice(at, token.begin)), token);
    at = token.end;
  }
  parts.push(decodeEntities(source.slice(at, end)));
  return parts.filter((part) => part !== '');
}

function decodeEntities(value: string): string {
  if (!value.includes('&')) return value;
  let decoded = value;
  const parser = new Parser({
    onattribute: (_, text) => {
      decoded = text;
    },
  });
  parser.end(`<a x="${value.replaceAll('"', '&quot;')}">`);
  return decoded;
}

/**
 * Returns the tokens of the sorted list `liquid` between two offsets. Uses a binary search, because a body may have
 * thousands of tokens.
 */
function findTokensBetween(liquid: FlatToken[], begin: number, end: number): FlatToken[] {
  let low = 0;
  let high = liquid.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((liquid[middle]?.begin ?? 0) < begin) low = middle + 1;
    else high = middle;
  }
  const first = low;
  while (low < liquid.length && (liquid[low]?.begin ?? 0) < end) low++;
  return liquid.slice(first, low);
}

/** Returns the number of Liquid blocks that are open at an offset. */
function countOpenBlocksAt(liquid: FlatToken[], offset: number): number {
  let depth = 0;
  for (const { kind, content, begin } of liquid) {
    if (begin >= offset) break;
    if (kind === 'tag') depth += getDepthChange(content);
  }
  return depth;
}
