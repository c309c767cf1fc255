import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import type { SourceEdit } from './source-edits.ts';

/** A block element, from its opening to its closing tag. */
export interface Block {
  name: string;
  start: number;
  end: number;
  /** Offset of the element that contains the block; -1 if no element contains it. */
  parent: number;
}

/** Elements that people perceive as one block. The frame's script has the same list. */
const BLOCKS = new Set('p h1 h2 h3 h4 h5 h6 li ul ol blockquote tr table div section'.split(' '));
const CELLS = new Set(['td', 'th']);
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** Returns every block with both tags; blocks that a browser would close automatically are omitted. */
export function findBlocks(source: string): Block[] {
  return findElements(source, BLOCKS);
}

/** Returns every table cell with both tags. */
export function findCells(source: string): Block[] {
  return findElements(source, CELLS);
}

function findElements(source: string, names: ReadonlySet<string>): Block[] {
  const scan = new BlockScan(source, names);
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: false }, scan);
  tokenizer.write(source);
  tokenizer.end();
  return scan.blocks;
}

/** Returns the blocks around an offset, the innermost first. */
export function findBlocksAround(blocks: readonly Block[], at: number): Block[] {
  return blocks.filter(({ start, end }) => start <= at && at <= end).sort((a, b) => b.start - a.start);
}

class BlockScan implements TokenizerCallbacks {
  readonly blocks: Block[] = [];
  private readonly source: string;
  private readonly names: ReadonlySet<string>;
  private readonly open: { name: string; start: number; parent: number }[] = [];
  private tag: { name: string; start: number } | undefined;

  constructor(source: string, names: ReadonlySet<string>) {
    this.source = source;
    this.names = names;
  }

  onopentagname(start: number, end: number): void {
    this.tag = { name: this.source.slice(start, end).toLowerCase(), start: start - 1 };
  }
  onopentagend(): void {
    const { tag } = this;
    if (tag && !VOID.has(tag.name)) this.open.push({ ...tag, parent: this.open.at(-1)?.start ?? -1 });
    this.tag = undefined;
  }
  onselfclosingtag(): void {
    this.tag = undefined;
  }
  onclosetag(start: number, end: number): void {
    const name = this.source.slice(start, end).toLowerCase();
    const at = this.open.findLastIndex((one) => one.name === name);
    const opened = this.open[at];
    if (!opened) return;
    this.open.length = at;
    const close = this.source.indexOf('>', end);
    if (this.names.has(name) && close >= 0) this.blocks.push({ ...opened, end: close + 1 });
  }
  onattribname(): void {}
  onattribdata(): void {}
  onattribentity(): void {}
  onattribend(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  ontext(): void {}
  ontextentity(): void {}
  onend(): void {}
}

/**
 * Returns whether a block can be moved, duplicated or removed: no loop, condition or comment for Outlook starts or
 * ends in the middle of it.
 */
export function isCompleteBlock(source: string, { start, end }: Block): boolean {
  const content = source.slice(start, end);
  let depth = 0;
  for (const [, word = ''] of content.matchAll(/\{%-?\s*(\w+)/g)) {
    if (/^(if|unless|for|case|tablerow|capture|comment|raw)$/.test(word)) depth += 1;
    else if (word.startsWith('end')) depth -= 1;
    // This `else` belongs to a condition that starts outside of the block.
    else if (/^(else|elsif|when|break|continue)$/.test(word) && depth === 0) return false;
    if (depth < 0) return false;
  }
  const count = (pattern: RegExp) => content.match(pattern)?.length ?? 0;
  return depth === 0 && count(/<!--\[if/gi) === count(/<!\[endif\]/gi);
}

/** Returns the edit that inserts a copy after the block, on a new line if the block starts a line (not the first). */
export function duplicateBlock(source: string, block: Block): SourceEdit {
  const lineStart = source.lastIndexOf('\n', block.start - 1) + 1;
  const indent = source.slice(lineStart, block.start);
  const gap = /^[ \t]*$/.test(indent) && lineStart > 0 ? `\n${indent}` : '';
  return { start: block.end, end: block.end, replacement: gap + source.slice(block.start, block.end) };
}

/** A row of one cell without content. */
const EMPTY_ROW = /^<tr\b[^>]*>\s*<t[dh]\b[^>]*>\s*<\/t[dh]\s*>\s*<\/tr\s*>$/i;
const EMPTY_ELEMENT = /^<(\w+)\b[^>]*>\s*<\/\1\s*>$/i;

/** Returns the edit that removes the block, and the table row that would be empty without it. */
export function removeBlock(source: string, blocks: readonly Block[], block: Block): SourceEdit {
  const row = findBlocksAround(blocks, block.start).find(({ name, start }) => name === 'tr' && start < block.start);
  const isRow = row && EMPTY_ROW.test(cutContent(source, row, block)) && isCompleteBlock(source, row);
  return { start: (isRow ? row : block).start, end: (isRow ? row : block).end, replacement: '' };
}

/** Returns the edit that removes a tag such as an image, and the block that would be empty without it. */
export function removeTag(source: string, tag: { start: number; end: number }): SourceEdit {
  const blocks = findBlocks(source);
  const [block] = findBlocksAround(blocks, tag.start);
  if (block && EMPTY_ELEMENT.test(cutContent(source, block, tag))) return removeBlock(source, blocks, block);
  return { start: tag.start, end: tag.end, replacement: '' };
}

function cutContent(source: string, around: Block, part: { start: number; end: number }): string {
  return source.slice(around.start, part.start) + source.slice(part.end, around.end);
}

/**
 * Returns the edit that swaps a block with the block before (-1) or after it (1) in the same element. Undefined if no
 * such block exists, if one of the two is not complete, or if there is more than white space between them.
 */
export function swapBlocks(
  source: string,
  blocks: readonly Block[],
  block: Block,
  step: -1 | 1,
): SourceEdit | undefined {
  const siblings = blocks.filter(({ parent }) => parent === block.parent).sort((a, b) => a.start - b.start);
  const other = siblings[siblings.findIndex(({ start }) => start === block.start) + step];
  if (!other || !isCompleteBlock(source, other) || !isCompleteBlock(source, block)) return undefined;
  const [first, second] = step === 1 ? [block, other] : [other, block];
  const between = source.slice(first.end, second.start);
  if (between.trim() !== '') return undefined;
  const replacement = source.slice(second.start, second.end) + between + source.slice(first.start, first.end);
  return { start: first.start, end: second.end, replacement };
}
