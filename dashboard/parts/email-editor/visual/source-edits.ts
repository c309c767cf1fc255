import { LIQUID } from './liquid-marks.ts';
import {
  type AttributeValueRange,
  getShownText,
  type OpeningTag,
  type ShownCharacter,
  type TextPart,
} from './source-parts.ts';

/** A replacement of a range of the source. The rest stays unchanged, byte for byte. */
export interface SourceEdit {
  start: number;
  end: number;
  replacement: string;
}

/** Returns the source after the edit. */
export function applyEdit(source: string, { start, end, replacement }: SourceEdit): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

/**
 * Returns the edit that changes a text part to this text. The edit replaces only the characters that differ, so other
 * entities, line breaks and Liquid stay unchanged. Undefined if nothing differs.
 */
export function createTextEdit(part: TextPart, now: string): SourceEdit | undefined {
  const before = part.characters.map(({ shown }) => shown);
  const after = [...normalizeText(now, getShownText(part))];
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const replaced = part.characters.slice(head, before.length - tail);
  if (replaced.length === 0 && after.length - tail === head) return undefined;
  const start = getOffset(part, head);
  const end = replaced.at(-1)?.end ?? start;
  return { start, end, replacement: toSource(after, head, after.length - tail) };
}

function getOffset({ characters, start, end }: TextPart, index: number): number {
  const at: ShownCharacter | undefined = characters[index];
  if (at) return at.start;
  return characters.at(-1)?.end ?? Math.max(start, end);
}

/** Returns the source offset of the caret when it is before the character at this index. */
export function getSourceOffset(part: TextPart, index: number): number {
  return getOffset(part, index);
}

/**
 * Restores plain spaces. A browser writes a space at the edge of a text as a non-breaking space; it stays only if the
 * text had non-breaking spaces before.
 */
function normalizeText(now: string, before: string): string {
  return before.includes('\u00a0') ? now : now.replaceAll('\u00a0', ' ');
}

/** Returns the range `from` to `to` of a text as source: escaped, except Liquid, which is taken as typed. */
function toSource(text: string[], from: number, to: number): string {
  const joined = text.join('');
  const liquid = new Set<number>();
  for (const match of joined.matchAll(LIQUID)) {
    for (let at = match.index; at < match.index + match[0].length; at += 1) liquid.add(at);
  }
  let at = text.slice(0, from).join('').length;
  let escaped = '';
  for (const character of text.slice(from, to)) {
    escaped += liquid.has(at) ? character : escapeHtml(character);
    at += character.length;
  }
  return escaped;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\u00a0': '&nbsp;', '\n': '<br>' };

function escapeHtml(character: string): string {
  return ESCAPES[character] ?? character;
}

/**
 * Returns the edit that sets the value of an attribute, and adds the attribute if it is missing. `value` is plain
 * text, with Liquid unescaped.
 */
export function createAttributeEdit(part: OpeningTag, name: string, value: string): SourceEdit {
  const range = part.attributes.get(name);
  if (!range)
    return { start: part.nameEnd, end: part.nameEnd, replacement: ` ${name}="${escapeAttribute(value, '"')}"` };
  if (range.quote !== '')
    return { start: range.start, end: range.end, replacement: escapeAttribute(value, range.quote) };
  return { start: range.start, end: range.end, replacement: `"${escapeAttribute(value, '"')}"` };
}

/**
 * Returns the value of an attribute, with the entities of quotes, `<` and `&` decoded; undefined if the tag lacks the
 * attribute.
 */
export function readAttribute(source: string, part: OpeningTag, name: string): string | undefined {
  const range = part.attributes.get(name);
  return range && decodeEntities(source.slice(range.start, range.end));
}

function decodeEntities(value: string): string {
  return value
    .replaceAll(/&quot;/gi, '"')
    .replaceAll(/&#39;|&apos;/gi, "'")
    .replaceAll(/&lt;/gi, '<')
    .replaceAll(/&amp;/gi, '&');
}

/** A quote inside Liquid is written as the other kind of quote, because Liquid would not understand an escaped one. */
function escapeAttribute(value: string, quote: Exclude<AttributeValueRange['quote'], ''>): string {
  const other = quote === '"' ? "'" : '"';
  let at = 0;
  let escaped = '';
  for (const match of value.matchAll(LIQUID)) {
    escaped += escapePlainText(value.slice(at, match.index), quote) + match[0].replaceAll(quote, other);
    at = match.index + match[0].length;
  }
  return escaped + escapePlainText(value.slice(at), quote);
}

function escapePlainText(value: string, quote: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll(quote, quote === '"' ? '&quot;' : '&#39;')
    .replaceAll('<', '&lt;');
}

/** Returns the edits that put tags around the selection of a text, from the end to the start. */
export function createWrapEdits(part: TextPart, from: number, to: number, before: string, after: string): SourceEdit[] {
  const [start, end] = [getOffset(part, from), part.characters[to - 1]?.end ?? getOffset(part, to)];
  return [
    { start: end, end, replacement: after },
    { start, end: start, replacement: before },
  ];
}

/** The opening tag of a cell with a color, directly before a link. */
const COLORED_CELL = /<td\b[^>]*?\bbgcolor="(#[0-9a-f]{6})"[^>]*>\s*$/i;

/**
 * Returns the color of the button around a link and its range in the source, as the edit that would write the same
 * color. Undefined if the link is not a button, or if styles decide its color, which the attribute would not change.
 */
export function readButtonColor(source: string, link: { start: number }): SourceEdit | undefined {
  const cell = COLORED_CELL.exec(source.slice(0, link.start));
  const color = cell?.[1];
  if (!cell || color === undefined || /background/i.test(cell[0])) return undefined;
  const start = cell.index + cell[0].indexOf(`"${color}"`) + 1;
  return { start, end: start + color.length, replacement: color };
}
