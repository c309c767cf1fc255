import { expect, it } from 'vitest';
import { NEW_BLOCKS } from '../new-blocks.ts';
import { canStyle, createDividerEdits, createStyleEdits, readBlockValues, readDivider } from './block-styles.ts';
import { findBlocks } from './source-blocks.ts';
import { applyEdit, type SourceEdit } from './source-edits.ts';
import { parseSource } from './source-model.ts';
import type { TagPart } from './source-parts.ts';

const blockIn = (source: string, name: string) => {
  const block = findBlocks(source).find((one) => one.name === name);
  if (!block) throw new Error(`no ${name}`);
  return block;
};
const after = (source: string, edits: SourceEdit[]) => edits.reduce(applyEdit, source);
const ruleOf = (source: string) => parseSource(source).parts.find(({ kind }) => kind === 'divider') as TagPart;

it('reads and changes the properties of a heading, whose line height follows its size', () => {
  const source = `<td>${NEW_BLOCKS.heading}</td>`;
  const heading = blockIn(source, 'h2');
  expect(readBlockValues(source, heading)).toEqual({ align: undefined, size: 24, color: undefined, below: 12 });
  expect(after(source, createStyleEdits(source, heading, { size: 40 }))).toContain('font-size:40px;line-height:56px;');
  expect(after(source, createStyleEdits(source, heading, { align: 'center' }))).toContain(';text-align:center">');
});

it('centers a button also for Outlook, and moves it back', () => {
  const source = NEW_BLOCKS.button;
  const centered = after(source, createStyleEdits(source, blockIn(source, 'table'), { align: 'center' }));
  expect(centered).toMatch(/^<table align="center" .*margin-left:auto;margin-right:auto">/);
  expect(readBlockValues(centered, blockIn(centered, 'table')).align).toBe('center');
  const back = after(centered, createStyleEdits(centered, blockIn(centered, 'table'), { align: 'left' }));
  expect(readBlockValues(back, blockIn(back, 'table')).align).toBe('left');
});

it('changes the height of a spacer for every email app', () => {
  const source = `<p>a</p>${NEW_BLOCKS.spacer}`;
  expect(readDivider(source, ruleOf(source)).height).toBe(32);
  const taller = after(source, createDividerEdits(source, ruleOf(source), blockIn(source, 'div'), { height: 64 }));
  expect(taller.match(/:64px/g)).toHaveLength(2);
  expect(taller).not.toContain('32px');
});

it('changes the line of a divider', () => {
  const source = NEW_BLOCKS.divider;
  expect(readDivider(source, ruleOf(source))).toEqual({ height: undefined, thickness: 1, color: '#c9cdd4' });
  const edits = createDividerEdits(source, ruleOf(source), undefined, { thickness: 3, color: '#0c6673' });
  expect(after(source, edits)).toContain('<hr style="margin:0;border:0;border-top:3px solid #0c6673">');
});

it('leaves a style with open Liquid to the code editor', () => {
  const source = `<p style="color:{{ "red" }}">x</p>`;
  expect(canStyle(source, blockIn(source, 'p'))).toBe(false);
});
