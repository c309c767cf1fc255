import { expect, it } from 'vitest';
import { findInsertion } from './insertion.ts';
import { parseSource } from './source-model.ts';

/**
 * Returns the source with a block inserted after the text that starts with `after`. Without `after`, nothing is
 * selected.
 */
function insertAfter(source: string, after?: string): string {
  const {
    at,
    before,
    after: end,
  } = findInsertion(parseSource(source), after === undefined ? undefined : source.indexOf(after));
  return `${source.slice(0, at)}${before.trim()}[new]${end}${source.slice(at)}`;
}

it.each([
  ['a paragraph', '<p>One</p><p>Two</p>', 'One', '<p>One</p>[new]<p>Two</p>'],
  ['a list', '<ul><li>One</li><li>Two</li></ul>', 'One', '<ul><li>One</li><li>Two</li></ul>[new]'],
  ['plain text', 'One', 'One', 'One[new]'],
  [
    'a row, as a row with the same cell',
    '<table><tr><td style="a">One</td></tr><tr><td>Two</td></tr></table>',
    'One',
    '<table><tr><td style="a">One</td></tr><tr><td style="a">[new]</td></tr><tr><td>Two</td></tr></table>',
  ],
  [
    'one of two columns, within its cell',
    '<table><tr><td>One</td><td>Two</td></tr></table>',
    'One',
    '<table><tr><td>One[new]</td><td>Two</td></tr></table>',
  ],
  [
    'a button, whose table has one cell',
    '<td><table><tr><td><a href="x">One</a></td></tr></table></td>',
    'One',
    '<td><table><tr><td><a href="x">One</a></td></tr></table>[new]</td>',
  ],
  [
    'the last text above the footer, if nothing is selected',
    '<p>One</p><p><a href="{{unsubscribeUrl}}">Out</a></p>',
    undefined,
    '<p>One</p>[new]<p><a href="{{unsubscribeUrl}}">Out</a></p>',
  ],
  ['nothing, at the end of the body', '<body></body>', undefined, '<body>[new]</body>'],
])('a block is inserted after %s', (_, source, after, expected) => {
  expect(insertAfter(source, after)).toBe(expected);
});
