import { expect, it } from 'vitest';
import { applyEdit } from './source-edits.ts';
import { parseOpeningTag } from './source-parts.ts';
import { createStyleEdit, readPixels, readStyle, type Styles } from './source-styles.ts';

const tagOf = (source: string) => {
  const tag = parseOpeningTag(source, 0);
  if (!tag) throw new Error('no tag');
  return tag;
};
const styled = (source: string, styles: Styles) => applyEdit(source, createStyleEdit(source, tagOf(source), styles));

it('changes one declaration and keeps the bytes of the others', () => {
  const source = `<p class=x style="font-family:&quot;A;B&quot; ; COLOR : red;margin:0 0 16px">Hi</p>`;
  expect(styled(source, { color: '#0c6673' })).toBe(
    `<p class=x style="font-family:&quot;A;B&quot; ;color:#0c6673;margin:0 0 16px">Hi</p>`,
  );
  expect(styled(source, { 'text-align': 'center' })).toContain('margin:0 0 16px;text-align:center">');
  expect(styled(source, { color: undefined })).toContain('&quot; ;margin:0 0 16px">');
});

it('adds a style attribute, also to a tag with an unquoted one', () => {
  expect(styled('<h2>Hi</h2>', { 'font-size': '24px', 'line-height': '32px' })).toBe(
    '<h2 style="font-size:24px;line-height:32px">Hi</h2>',
  );
  expect(styled('<p style=color:red>Hi</p>', { color: 'blue' })).toBe('<p style="color:blue">Hi</p>');
});

it('does not take a part of another property for the property', () => {
  const source = '<div style="background-color:#ffffff">x</div>';
  expect(readStyle(source, tagOf(source), 'color')).toBeUndefined();
});

it('reads the space below a block from the property or its shorthand', () => {
  const below = (style: string) => {
    const source = `<p style="${style}">x</p>`;
    return readPixels(source, tagOf(source), 'margin-bottom');
  };
  expect(below('margin:0 0 16px')).toBe(16);
  expect(below('margin:8px')).toBe(8);
  expect(below('margin:0 0 16px;margin-bottom:24px')).toBe(24);
  expect(below('margin:auto')).toBeUndefined();
  expect(below('color:red')).toBeUndefined();
});
