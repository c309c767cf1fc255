import { expect, it } from 'vitest';
import { wrapListItem } from './markdown-list.ts';

it('wraps a list item at 110 characters and indents its other lines', () => {
  expect(wrapListItem('short')).toBe('- short');
  const wrapped = wrapListItem('word '.repeat(40).trim()).split('\n');
  expect(wrapped.map((line) => line.slice(0, 3))).toEqual(['- w', '  w']);
  expect(Math.max(...wrapped.map(({ length }) => length))).toBeLessThanOrEqual(110);
  expect(wrapped.join(' ').match(/word/g)).toHaveLength(40);
});
