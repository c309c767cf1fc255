import { describe, expect, it } from 'vitest';
import { IMAGE_BLOCKS, NEW_BLOCKS } from './new-blocks.ts';
import { findBlocks, isCompleteBlock } from './visual/source-blocks.ts';
import { parseSource } from './visual/source-model.ts';

const TAG =
  '<img src="a.png" width="600" height="300" alt="" style="display:block;max-width:100%;height:auto;border:0">';
const BLOCKS = [
  ...Object.entries(NEW_BLOCKS),
  ...Object.entries(IMAGE_BLOCKS).map(([name, build]) => [name, build(TAG)] as const),
];

describe.each(BLOCKS)('the block %s', (_, html) => {
  it('is one element, which can be moved, duplicated and removed', () => {
    const outermost = findBlocks(html).filter(({ parent }) => parent === -1);
    expect(outermost.map(({ start, end }) => [start, end])).toEqual([[0, html.length]]);
    expect(outermost.every((block) => isCompleteBlock(html, block))).toBe(true);
  });

  it('has a part that can be selected', () => {
    const { parts } = parseSource(html);
    expect(parts.filter((part) => part.kind !== 'text' || part.role === 'words')).not.toEqual([]);
  });
});

it('gives the image of a product the width of its column, in proportion', () => {
  expect(IMAGE_BLOCKS.product(TAG)).toContain('width="224" height="112"');
  expect(IMAGE_BLOCKS.product(TAG.replace('600', '100'))).toContain('width="100" height="300"');
});
