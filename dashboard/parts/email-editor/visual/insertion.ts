import { type Block, findBlocks, findBlocksAround, findCells } from './source-blocks.ts';
import type { SourceModel } from './source-model.ts';

/** The offset of a new block, and the markup that it needs around it at this position. */
export interface Insertion {
  at: number;
  before: string;
  after: string;
}

/** Text of a footer. New blocks go above it. */
const FOOTER = /unsubscribe|manage_?url/i;
/** Elements that a new block cannot follow directly. */
const INNER = new Set(['li', 'tr']);

/**
 * Finds the position for a new block: after the block that contains the text at this offset. If the text is in a table
 * row with a single cell, and the table has more rows, the new block gets a row of its own. Without an offset, the
 * position is after the last text above the footer.
 */
export function findInsertion({ source, parts }: SourceModel, offset: number | undefined): Insertion {
  const blocks = findBlocks(source);
  const last = parts.findLast((part) => part.kind === 'text' && part.role === 'words' && !isFooter(part.start));
  const at = offset ?? last?.start;
  if (at === undefined) return createInsertion(findEndOfBody(source));
  const cells = findCells(source);
  for (const block of findBlocksAround(blocks, at)) {
    if (!INNER.has(block.name)) return createInsertion(block.end);
    const cellsOfRow = cells.filter(({ parent }) => parent === block.start);
    const cell = cellsOfRow.find(({ start, end }) => start <= at && at <= end);
    if (!cell) continue;
    if (cellsOfRow.length > 1) return createInsertion(source.lastIndexOf('<', cell.end - 1));
    if (isOnlyRow(blocks, block)) continue;
    const opening = /^<t[dh]\b[^>]*>/i.exec(source.slice(cell.start, cell.end))?.[0] ?? '<td>';
    return { at: block.end, before: `\n<tr>${opening}`, after: `</${cell.name}></tr>` };
  }
  return createInsertion(offset === undefined ? findEndOfBody(source) : findEndOfText(offset));

  function isFooter(start: number): boolean {
    const [block] = findBlocksAround(blocks, start);
    return block !== undefined && FOOTER.test(source.slice(block.start, block.end));
  }
  function findEndOfText(start: number): number {
    return parts.find((part) => part.start === start)?.end ?? start;
  }
}

/** Returns whether a row is the only one of its table, as around a button. */
function isOnlyRow(blocks: readonly Block[], row: Block): boolean {
  return blocks.filter(({ name, parent }) => name === 'tr' && parent === row.parent).length === 1;
}

function createInsertion(at: number): Insertion {
  return { at, before: '\n', after: '' };
}

/** Returns the offset of `</body>`, or the length of the source if the tag is missing. */
export function findEndOfBody(source: string): number {
  const at = source.search(/<\/body\s*>/i);
  return at < 0 ? source.length : at;
}
