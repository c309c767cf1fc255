import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { hasLineBreakInLiquid, isLiquidOpenAtEnd, isLogicOnly } from './liquid-marks.ts';

/**
 * A character that the email shows, with its range in the source. For an entity, a `<br>` or a run of white space, this
 * range is several characters long.
 */
export interface ShownCharacter {
  shown: string;
  start: number;
  end: number;
}

/** The text between two tags. */
export interface TextPart {
  kind: 'text';
  id: number;
  start: number;
  end: number;
  characters: ShownCharacter[];
  /**
   * `words` can be edited. `logic` is only Liquid tags. `locked` cannot be edited: text that is not shown, text between
   * the rows of a table, and Liquid that contains markup.
   */
  role: 'words' | 'logic' | 'locked';
}

/** Range of an attribute's value, without its quotes. */
export interface AttributeValueRange {
  start: number;
  end: number;
  quote: '"' | "'" | '';
}

/** An opening tag and its attributes. */
export interface OpeningTag {
  start: number;
  /** The offset after the tag's name, where a new attribute is inserted. */
  nameEnd: number;
  end: number;
  attributes: Map<string, AttributeValueRange>;
}

/** The opening tag of a link, image or divider that can be clicked. */
export interface TagPart extends OpeningTag {
  kind: 'link' | 'image' | 'divider';
  id: number;
}

export type SourcePart = TextPart | TagPart;

/** A range that the frame omits, because it would run, load, navigate or change the base of addresses. */
export interface HiddenPart {
  kind: 'hidden';
  start: number;
  end: number;
}

export interface SourceParts {
  parts: SourcePart[];
  hidden: HiddenPart[];
}

const TAGS: Record<string, TagPart['kind']> = { a: 'link', img: 'image', hr: 'divider' };
const HIDDEN_TAGS = new Set(['base', 'link', 'meta', 'script']);
/** Elements whose text is not shown as text of the email. */
const SILENT = new Set([
  'style',
  'script',
  'title',
  'textarea',
  'noscript',
  'select',
  'option',
  'svg',
  'object',
  'head',
]);
/** Elements that may not contain text directly. A browser would move such text elsewhere. */
const TABLE_INNARDS = new Set(['table', 'tbody', 'thead', 'tfoot', 'tr', 'colgroup']);
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/**
 * Finds the editable parts of an email's source, each with its range. The source is not rewritten. Everything else
 * stays unchanged: comments for Outlook, styles, Liquid in attributes, broken markup.
 */
export function findParts(source: string): SourceParts {
  const scan = scanSource(source);
  return { parts: scan.parts, hidden: scan.hidden };
}

/** Returns the characters of a text as they are shown, including white space. */
export function listShownCharacters(source: string): ShownCharacter[] {
  return scanSource(source).characters;
}

/**
 * Returns the tag that opens at the start of a text, with offsets in the text around it.
 * @param at offset of the text
 */
export function parseOpeningTag(text: string, at: number): OpeningTag | undefined {
  const tag = scanSource(text).firstTag;
  if (!tag) return undefined;
  const attributes = new Map<string, AttributeValueRange>();
  for (const [name, { start, end, quote }] of tag.attributes) {
    attributes.set(name, { start: start + at, end: end + at, quote });
  }
  return { start: tag.start + at, nameEnd: tag.nameEnd + at, end: tag.end + at, attributes };
}

function scanSource(source: string): Scan {
  const scan = new Scan(source);
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, scan);
  tokenizer.write(source);
  tokenizer.end();
  return scan;
}

/** Collects the parts from the tokenizer's callbacks, which report the range of each token. */
class Scan implements TokenizerCallbacks {
  readonly parts: SourcePart[] = [];
  readonly hidden: HiddenPart[] = [];
  readonly characters: ShownCharacter[] = [];
  firstTag: OpeningTag | undefined;
  private readonly source: string;
  private readonly open: string[] = [];
  private text: ShownCharacter[] = [];
  private inLiquid = false;
  private tag: { name: string; start: number; nameEnd: number; attributes: TagPart['attributes'] } | undefined;
  private attribute: { name: string; start: number; end: number } | undefined;
  private scriptStart: number | undefined;

  constructor(source: string) {
    this.source = source;
  }

  ontext(start: number, end: number): void {
    for (const match of this.source.slice(start, end).matchAll(/[ \t\n\r\f]+|./gsu)) {
      const at = start + match.index;
      this.show(/^[ \t\n\r\f]/.test(match[0]) ? ' ' : match[0], at, at + match[0].length);
    }
  }

  ontextentity(codepoint: number, end: number): void {
    this.show(String.fromCodePoint(codepoint), this.source.lastIndexOf('&', end - 1), end);
  }

  private show(shown: string, start: number, end: number): void {
    const last = this.text.at(-1);
    // The tokenizer may report one run of white space in two pieces.
    if (last && shown === ' ' && last.shown === ' ' && last.end === start && isSpace(this.source[last.start])) {
      last.end = end;
    } else {
      this.text.push({ shown, start, end });
    }
  }

  onopentagname(start: number, end: number): void {
    const name = this.source.slice(start, end).toLowerCase();
    // A `<br>` is a new line within a text and does not end it.
    if (name !== 'br') this.endText();
    this.tag = { name, start: start - 1, nameEnd: end, attributes: new Map() };
  }

  onattribname(start: number, end: number): void {
    this.attribute = { name: this.source.slice(start, end).toLowerCase(), start, end };
  }

  onattribdata(): void {}
  onattribentity(): void {}

  onattribend(_quote: unknown, end: number): void {
    const { tag, attribute } = this;
    this.attribute = undefined;
    if (attribute?.name.startsWith('on')) this.hidden.push({ kind: 'hidden', start: attribute.start, end });
    if (!tag || !attribute || tag.attributes.has(attribute.name)) return;
    const value = /^\s*=\s*(["']?)/.exec(this.source.slice(attribute.end, end + 1));
    if (!value) return;
    const quote = (value[1] ?? '') as AttributeValueRange['quote'];
    const start = attribute.end + value[0].length;
    // The tokenizer includes the closing quote in the range.
    const valueEnd = quote === '' ? end : end - 1;
    tag.attributes.set(attribute.name, { start, end: Math.max(start, valueEnd), quote });
  }

  onopentagend(end: number): void {
    this.endTag(end + 1, false);
  }

  onselfclosingtag(end: number): void {
    this.endTag(end + 1, true);
  }

  private endTag(end: number, isClosed: boolean): void {
    const { tag } = this;
    this.tag = undefined;
    if (!tag) return;
    if (tag.name === 'br') {
      this.text.push({ shown: '\n', start: tag.start, end });
      return;
    }
    const kind = TAGS[tag.name];
    const { start, nameEnd, attributes } = tag;
    this.firstTag ??= { start, nameEnd, end, attributes };
    if (kind) this.parts.push({ kind, id: this.parts.length, start, nameEnd, end, attributes });
    if (tag.name === 'script') this.scriptStart = start;
    else if (HIDDEN_TAGS.has(tag.name)) this.hidden.push({ kind: 'hidden', start, end });
    if (!VOID.has(tag.name) && !isClosed) this.open.push(tag.name);
  }

  onclosetag(start: number, end: number): void {
    this.endText();
    const name = this.source.slice(start, end).toLowerCase();
    const at = this.open.lastIndexOf(name);
    if (at >= 0) this.open.length = at;
    if (name !== 'script' || this.scriptStart === undefined) return;
    const close = this.source.indexOf('>', end);
    this.hidden.push({ kind: 'hidden', start: this.scriptStart, end: close < 0 ? this.source.length : close + 1 });
    this.scriptStart = undefined;
  }

  oncomment(): void {
    this.endText();
  }
  oncdata(): void {
    this.endText();
  }
  ondeclaration(): void {
    this.endText();
  }
  onprocessinginstruction(): void {
    this.endText();
  }
  onend(): void {
    this.endText();
    if (this.scriptStart === undefined) return;
    this.hidden.push({ kind: 'hidden', start: this.scriptStart, end: this.source.length });
  }

  private endText(): void {
    const characters = this.text;
    this.text = [];
    if (characters.length === 0) return;
    this.characters.push(...characters);
    const shown = characters.map((one) => one.shown).join('');
    const wasInLiquid = this.inLiquid;
    this.inLiquid = isLiquidOpenAtEnd(shown, wasInLiquid);
    const words = trimShown(characters);
    const [first, last] = [words[0], words.at(-1)];
    if (!first || !last || shown.trim() === '') return;
    const isLocked = wasInLiquid || this.inLiquid || hasLineBreakInLiquid(shown) || this.isSilent();
    const role = isLocked ? 'locked' : isLogicOnly(shown) ? 'logic' : 'words';
    this.parts.push({
      kind: 'text',
      id: this.parts.length,
      start: first.start,
      end: last.end,
      characters: words,
      role,
    });
  }

  private isSilent(): boolean {
    return this.open.some((name) => SILENT.has(name)) || TABLE_INNARDS.has(this.open.at(-1) ?? '');
  }
}

/** Removes white space at both ends, which only formats the source. Typed text then joins the words directly. */
function trimShown(characters: ShownCharacter[]): ShownCharacter[] {
  const from = characters.findIndex(({ shown }) => shown !== ' ');
  return from < 0 ? [] : characters.slice(from, characters.findLastIndex(({ shown }) => shown !== ' ') + 1);
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && ' \t\n\r\f'.includes(character);
}

/** Returns a text part as it is shown. */
export function getShownText(part: TextPart): string {
  return part.characters.map(({ shown }) => shown).join('');
}

/**
 * Returns whether an attribute ends in the middle of Liquid, because the Liquid has the same quotes. Such an
 * attribute can be edited only as code.
 */
export function isCutByLiquid(source: string, part: OpeningTag, name: string): boolean {
  const range = part.attributes.get(name);
  return range !== undefined && isLiquidOpenAtEnd(source.slice(range.start, range.end), false);
}
