import { describe, expect, it } from 'vitest';
import {
  duplicateBlock,
  findBlocks,
  findBlocksAround,
  isCompleteBlock,
  removeBlock,
  removeTag,
  swapBlocks,
} from './source-blocks.ts';
import { applyEdit } from './source-edits.ts';

const TABLE = `<table>
  {% for p in products %}
  <tr><td><p>one</p><p>two</p></td></tr>
  {% endfor %}
  <tr><td>three</td></tr>
  <tr><td>four</td></tr>
</table>`;
const around = (source: string, words: string) => findBlocksAround(findBlocks(source), source.indexOf(words));
const innermost = (source: string, words: string) => {
  const [block] = around(source, words);
  if (!block) throw new Error(`no block around ${words}`);
  return block;
};

describe('the blocks of an email', () => {
  it('are the blocks around a position, innermost first', () => {
    expect(around(TABLE, 'one').map(({ name }) => name)).toEqual(['p', 'tr', 'table']);
  });

  it('are blocks with both tags', () => {
    expect(around('<table><tr><td>a<p>b</table>', 'b').map(({ name }) => name)).toEqual(['table']);
  });

  it('are duplicated on a new line, and removed', () => {
    const row = innermost(TABLE, 'three');
    expect(applyEdit(TABLE, duplicateBlock(TABLE, row))).toBe(
      TABLE.replace('<tr><td>three</td></tr>', '<tr><td>three</td></tr>\n  <tr><td>three</td></tr>'),
    );
    expect(applyEdit(TABLE, removeBlock(TABLE, findBlocks(TABLE), row))).toBe(
      TABLE.replace('<tr><td>three</td></tr>', ''),
    );
    expect(applyEdit('<p>a</p>', duplicateBlock('<p>a</p>', innermost('<p>a</p>', 'a')))).toBe('<p>a</p><p>a</p>');
  });

  it('leave no empty table row behind when they or their only image are removed', () => {
    const rows = '<table><tr><td><div><img src="x"></div></td></tr><tr><td><p>one</p></td></tr></table>';
    const image = rows.indexOf('<img');
    const edits = [
      removeBlock(rows, findBlocks(rows), innermost(rows, 'one')),
      removeTag(rows, { start: image, end: image + '<img src="x">'.length }),
    ];
    expect(edits.reduce(applyEdit, rows)).toBe('<table></table>');
    expect(applyEdit('<p>a <hr> b</p>', removeTag('<p>a <hr> b</p>', { start: 5, end: 9 }))).toBe('<p>a  b</p>');
  });

  it('are exchanged with the next block, while the text between them stays', () => {
    const edit = swapBlocks(TABLE, findBlocks(TABLE), innermost(TABLE, 'three'), 1);
    expect(edit && applyEdit(TABLE, edit)).toBe(
      TABLE.replace('three', 'x').replace('four', 'three').replace('x', 'four'),
    );
    const words = swapBlocks(TABLE, findBlocks(TABLE), innermost(TABLE, 'two'), -1);
    expect(words && applyEdit(TABLE, words)).toBe(TABLE.replace('<p>one</p><p>two</p>', '<p>two</p><p>one</p>'));
  });

  it('do not move out of or into a loop', () => {
    expect(swapBlocks(TABLE, findBlocks(TABLE), innermost(TABLE, 'three'), -1)).toBeUndefined();
    expect(swapBlocks(TABLE, findBlocks(TABLE), innermost(TABLE, 'four'), 1)).toBeUndefined();
  });

  it.each([
    ['<p>a{% if b %}c</p><p>d{% endif %}</p>', false],
    ['<p>a{% else %}c</p>', false],
    ['<p><!--[if !mso]><!-->a</p><p>b<!--<![endif]--></p>', false],
    ['<p>{% if b %}c{% else %}d{% endif %}<!--[if mso]>a<![endif]--></p>', true],
  ])('%s is complete: %s', (source, whole) => {
    expect(isCompleteBlock(source, innermost(source, '</p>'))).toBe(whole);
  });
});
