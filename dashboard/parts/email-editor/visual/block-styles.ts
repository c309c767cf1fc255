import type { Block } from './source-blocks.ts';
import { createAttributeEdit, readAttribute, type SourceEdit } from './source-edits.ts';
import { isCutByLiquid, type OpeningTag, parseOpeningTag } from './source-parts.ts';
import { createStyleEdit, readPixels, readStyle, type Styles } from './source-styles.ts';

type Alignment = 'left' | 'center' | 'right';

/** The properties of a block. A property that the block cannot have is absent; undefined if the style lacks it. */
export interface BlockValues {
  align?: Alignment | undefined;
  size?: number | undefined;
  color?: string | undefined;
  background?: string | undefined;
  padding?: number | undefined;
  below?: number | undefined;
}

const TEXTS = /^(?:p|h[1-6]|li|ul|ol|blockquote)$/;
const SECTIONS = /^(?:div|section)$/;
/** The line height that is set when the size of a text changes, as a multiple of the size. */
const LINE_HEIGHT = 1.4;

/** Returns whether the panel has fields for a block, and can write its style attribute. */
export function canStyle(source: string, block: Block): boolean {
  const tag = findOpeningTag(source, block);
  const isKnown = TEXTS.test(block.name) || SECTIONS.test(block.name) || block.name === 'table';
  return isKnown && tag !== undefined && !isCutByLiquid(source, tag, 'style');
}

/** Returns the properties of a block that `canStyle` permits. */
export function readBlockValues(source: string, block: Block): BlockValues {
  const tag = findOpeningTag(source, block);
  if (!tag) return {};
  if (block.name === 'table') {
    return { align: readTableAlignment(source, tag), background: readStyle(source, tag, 'background-color') };
  }
  const align = readStyle(source, tag, 'text-align') as Alignment | undefined;
  if (SECTIONS.test(block.name)) {
    return {
      align,
      background: readStyle(source, tag, 'background-color'),
      padding: readPixels(source, tag, 'padding'),
    };
  }
  return {
    align,
    size: readPixels(source, tag, 'font-size'),
    color: readStyle(source, tag, 'color'),
    below: readPixels(source, tag, 'margin-bottom'),
  };
}

/** Returns the edits that change properties of a block, in the order in which they apply. */
export function createStyleEdits(source: string, block: Block, { align, ...values }: BlockValues): SourceEdit[] {
  const tag = findOpeningTag(source, block);
  if (!tag) return [];
  if (align && block.name === 'table') return createTableEdits(source, tag, align);
  const { size, color, background, padding, below } = values;
  const styles: Styles = {
    ...(align && { 'text-align': align }),
    ...(color && { color }),
    ...(background && { 'background-color': background }),
    ...(padding !== undefined && { padding: `${padding}px` }),
    ...(below !== undefined && { 'margin-bottom': `${below}px` }),
    // A line height in pixels would let the lines of a larger text overlap.
    ...(size !== undefined && { 'font-size': `${size}px`, 'line-height': `${Math.round(size * LINE_HEIGHT)}px` }),
  };
  return [createStyleEdit(source, tag, styles)];
}

function readTableAlignment(source: string, tag: OpeningTag): Alignment {
  const left = readStyle(source, tag, 'margin-left');
  const right = readStyle(source, tag, 'margin-right');
  if (left === 'auto') return right === 'auto' ? 'center' : 'right';
  return readAttribute(source, tag, 'align') === 'center' ? 'center' : 'left';
}

/**
 * Returns the edits that align a table. Outlook reads only the attribute `align`, where any value except `center` would
 * make text flow around the table.
 */
function createTableEdits(source: string, tag: OpeningTag, align: Alignment): SourceEdit[] {
  const margins = createStyleEdit(source, tag, {
    'margin-left': align === 'left' ? '0' : 'auto',
    'margin-right': align === 'center' ? 'auto' : '0',
  });
  const hasAttribute = tag.attributes.has('align');
  if (align !== 'center' && !hasAttribute) return [margins];
  return sortFromEnd([margins, createAttributeEdit(tag, 'align', align === 'center' ? 'center' : '')]);
}

/** Returns the height of a spacer, or the thickness and color of a divider's line. */
export function readDivider(source: string, tag: OpeningTag) {
  const line = /^(\d+)px\s+\w+\s+(#[0-9a-f]{6})$/i.exec(readStyle(source, tag, 'border-top') ?? '');
  const height = line ? undefined : readPixels(source, tag, 'height');
  return { height, thickness: line ? Number(line[1]) : 1, color: line?.[2] };
}

/**
 * Returns the edits that change a divider or a spacer.
 * @param block the block around the `hr`. Outlook reads the height of a spacer from a comment in this block
 */
export function createDividerEdits(
  source: string,
  tag: OpeningTag,
  block: Block | undefined,
  { height, thickness = 1, color = '#c9cdd4' }: { height?: number; thickness?: number; color?: string | undefined },
): SourceEdit[] {
  if (height === undefined) {
    return [createStyleEdit(source, tag, { border: '0', 'border-top': `${thickness}px solid ${color}` })];
  }
  const style = createStyleEdit(source, tag, { height: `${height}px` });
  const before = source.slice(block?.start ?? tag.start, tag.start);
  const outlook = /(<!--\[if mso\]>[^\]]*?line-height:)\d+px/.exec(before);
  if (!outlook) return [style];
  const start = tag.start - before.length + outlook.index + (outlook[1] ?? '').length;
  const end = tag.start - before.length + outlook.index + outlook[0].length;
  return sortFromEnd([style, { start, end, replacement: `${height}px` }]);
}

/** Sorts edits from the end of the source to its start, so that an edit does not shift the offsets of the next edit. */
function sortFromEnd(edits: SourceEdit[]): SourceEdit[] {
  return edits.toSorted((a, b) => b.start - a.start);
}

function findOpeningTag(source: string, { start, end }: Block): OpeningTag | undefined {
  return parseOpeningTag(source.slice(start, end), start);
}
