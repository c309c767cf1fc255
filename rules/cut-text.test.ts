import { expect, it } from 'vitest';
import { cutText } from './cut-text.ts';

it('a cut text can be stored in Postgres', () => {
  expect(cutText('a\0b', 10)).toBe('a b');
  expect(cutText('ab😀', 3)).toBe('ab\ufffd');
  expect(cutText('ab😀', 4)).toBe('ab😀');
  expect(cutText('ab😀', 3).isWellFormed()).toBe(true);
});
