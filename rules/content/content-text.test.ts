import { expect, it } from 'vitest';
import { htmlToText } from './content-text.ts';

it('puts each row of a table on a line, with a space between its cells', () => {
  const rows = '<tr><td>Tea</td><td>4.00</td></tr><tr><th>Sum</th><td>4.00</td></tr>';
  expect(htmlToText(`<p>Order</p><table>${rows}</table><p>Thanks</p>`)).toBe('Order\n\nTea 4.00\nSum 4.00\n\nThanks');
});

it('adds no blank lines for tables that only give a layout', () => {
  const inner = '<table><tr><td><h1>Hello</h1><p>Text</p></td></tr></table>';
  const text = htmlToText(`<table><tbody><tr><td>${inner}</td></tr><tr><td><p>Footer</p></td></tr></tbody></table>`);
  expect(text.split('\n').filter((line) => line.trim() !== '')).toEqual(['Hello', 'Text', 'Footer']);
  expect(text).not.toMatch(/\n\n\n/);
  expect(text).not.toMatch(/ $/m);
});
