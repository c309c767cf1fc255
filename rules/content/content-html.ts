import { Parser, QuoteType, Tokenizer } from 'htmlparser2';
import type { GuardKind } from './interpolation-guard.ts';
import { depthChange } from './liquid.ts';
import type { FlatToken } from './liquid-tokens.ts';

/**
 * Context of an output in a body. `text` includes ordinary attributes, for which escaping is enough for the tenant's
 * own values.
 */
export type HtmlContext = Exclude<GuardKind, 'piece' | 'subject' | 'subjectPiece'>;

/** The address of a link, with offsets of its value in the source. */
export interface LinkValue {
  begin: number;
  end: number;
  quoted: boolean;
  /** Constant parts with their entities decoded, and the outputs between them, in order. */
  parts: (string | FlatToken)[];
}

export interface ScannedHtml {
  /** The context of each output, by its start. */
  places: Map<number, HtmlContext>;
  links: LinkValue[];
  /** Unquoted attribute values with Liquid: a value with a space would start another attribute. */
  unquoted: { begin: number; end: number }[];
  /** The offset of the last `</body>` outside Liquid blocks. Undefined if the text has no such tag. */
  bodyEnd: number | undefined;
  /** Offset for content that is shown first: after `<body>`, or after the head if any. */
  bodyBegin: number;
}

const LINK_ATTRIBUTES = new Set(['href', 'action', 'formaction', 'xlink:href', 'ping', 'cite', 'data', 'longdesc']);
const SOURCE_ATTRIBUTES = new Set(['src', 'background', 'poster', 'srcset', 'lowsrc', 'dynsrc']);

/**
 * Scans the HTML around the Liquid of a body; offsets refer to `source`. Never throws, because the HTML of emails is
 * often malformed.
 */
export function scanHtml(source: string, tokens: FlatToken[]): ScannedHtml {
  const liquid = tokens.filter((token) => token.kind !== 'text');
  const found: ScannedHtml = { places: new Map(), links: [], unquoted: [], bodyEnd: undefined, bodyBegin: 0 };
  for (const token of liquid) if (token.kind === 'output') found.places.set(token.begin, 'markup');
  scanRange(maskLiquid(source, liquid), 0, { source, liquid, found });
  return found;
}

interface Scan {
  source: string;
  liquid: FlatToken[];
  found: ScannedHtml;
}

/** Replaces Liquid by as many letters of the private use area, which have no meaning in HTML. */
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
  const { found } = scan;
  const mayBegin = (at: number) => {
    if (offset === 0 && depthAt(scan.liquid, at) === 0) found.bodyBegin = at;
  };
  let tag = '';
  let attribute = { name: '', begin: 0 };
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      ontext: (begin, end) => {
        if (!/^(script|style)$/.test(tag)) setPlaces(scan, offset + begin, offset + end, 'text');
      },
      onopentagname: (begin, end) => {
        tag = masked.slice(begin, end).toLowerCase();
      },
      onclosetag: (begin, end) => {
        tag = '';
        if (masked.slice(begin, end).toLowerCase() === 'head') mayBegin(end + 1);
        if (masked.slice(begin, end).toLowerCase() === 'body' && depthAt(scan.liquid, offset + begin) === 0)
          found.bodyEnd = offset + masked.lastIndexOf('</', begin);
      },
      onattribname: (begin, end) => {
        attribute = { name: masked.slice(begin, end).toLowerCase(), begin: valueBegin(masked, end) };
      },
      onattribend: (quote, index) => {
        const quoted = quote === QuoteType.Double || quote === QuoteType.Single;
        const end = quoted ? index - 1 : index;
        if (quote === QuoteType.NoValue || end <= attribute.begin) return;
        onAttribute(scan, tag, attribute.name, { begin: offset + attribute.begin, end: offset + end, quoted });
      },
      // Outlook reads the content of its conditional comments, so it is scanned here too.
      oncomment: (begin, end, tail) => {
        const inner = masked.slice(begin, end - tail);
        if (/^\[if[^\]]*\]>/i.test(inner)) scanRange(inner, offset + begin, scan);
      },
      oncdata: () => {},
      onattribdata: () => {},
      onattribentity: () => {},
      ondeclaration: (_, end) => mayBegin(end + 1),
      onend: () => {},
      onopentagend: (at) => {
        if (tag === 'html' || tag === 'body') mayBegin(at + 1);
      },
      onprocessinginstruction: () => {},
      onselfclosingtag: () => {},
      ontextentity: () => {},
    },
  );
  tokenizer.write(masked);
  tokenizer.end();
}

function valueBegin(masked: string, nameEnd: number): number {
  const before = /\s*=\s*["']?/y;
  before.lastIndex = nameEnd;
  return nameEnd + (before.exec(masked)?.[0].length ?? 0);
}

type ValueRange = Pick<LinkValue, 'begin' | 'end' | 'quoted'>;

function onAttribute(scan: Scan, tag: string, name: string, range: ValueRange): void {
  const inside = tokensBetween(scan.liquid, range.begin, range.end);
  if (inside.length > 0) placeAttribute(scan, name, range, inside);
  if (!range.quoted && inside.length > 0) scan.found.unquoted.push(range);
  const trackable = name === 'href' && (tag === 'a' || tag === 'area' || tag.startsWith('v:'));
  if (trackable) scan.found.links.push({ ...range, parts: valueParts(scan.source, range, inside) });
}

function placeAttribute(scan: Scan, name: string, range: ValueRange, inside: FlatToken[]): void {
  const address = LINK_ATTRIBUTES.has(name) ? 'link' : SOURCE_ATTRIBUTES.has(name) ? 'source' : undefined;
  const script = name === 'style' || name.startsWith('on');
  if (!address) {
    setPlaces(scan, range.begin, range.end, script ? 'markup' : 'text');
    return;
  }
  // After constant text or a first output, the position is no longer the start. After a tag it may be.
  let anchored = scan.source.slice(range.begin, inside[0]?.begin).trim() !== '';
  let branched = false;
  for (const token of inside) {
    if (token.kind === 'tag') branched ||= !anchored;
    if (token.kind !== 'output') continue;
    scan.found.places.set(token.begin, anchored ? 'address' : address);
    anchored ||= !branched;
  }
}

function setPlaces({ liquid, found }: Scan, begin: number, end: number, place: HtmlContext): void {
  for (const token of tokensBetween(liquid, begin, end))
    if (token.kind === 'output') found.places.set(token.begin, place);
}

function valueParts(source: string, { begin, end }: ValueRange, inside: FlatToken[]): (string | FlatToken)[] {
  const parts: (string | FlatToken)[] = [];
  let at = begin;
  for (const token of inside) {
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
 * Returns the tokens of `liquid` (sorted) between two offsets. Uses a binary search, because a body may have thousands.
 */
function tokensBetween(liquid: FlatToken[], begin: number, end: number): FlatToken[] {
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
function depthAt(liquid: FlatToken[], offset: number): number {
  let depth = 0;
  for (const { kind, content, begin } of liquid) {
    if (begin >= offset) break;
    if (kind === 'tag') depth += depthChange(content);
  }
  return depth;
}
