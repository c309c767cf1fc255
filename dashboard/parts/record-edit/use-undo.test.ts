import { expect, it } from 'vitest';
import { extendSteps } from './use-undo.ts';

interface Fields {
  subject: string;
  body: string;
}
const step = (before: string, after: string, atMs: number) => ({
  before: { subject: before },
  after: { subject: after },
  atMs,
});

it('joins changes of the same field within a second to one step', () => {
  const typed = extendSteps<Fields>([step('', 'a', 0)], step('a', 'ab', 900));
  expect(typed).toEqual([{ before: { subject: '' }, after: { subject: 'ab' }, atMs: 900 }]);
  expect(extendSteps(typed, step('ab', 'abc', 2_000))).toHaveLength(2);
});

it('keeps a change apart that is undone alone, from the changes before and after it', () => {
  const added = { before: { subject: 'a' }, after: { subject: 'a+block' }, atMs: undefined };
  const steps = extendSteps<Fields>([step('', 'a', 0)], added);
  expect(steps).toHaveLength(2);
  expect(extendSteps(steps, step('a+block', 'a+block b', 10))).toHaveLength(3);
});

it('keeps changes of other fields apart, and at most 100 steps', () => {
  const other = { before: { body: '' }, after: { body: 'x' }, atMs: 10 };
  expect(extendSteps<Fields>([step('', 'a', 0)], other)).toHaveLength(2);
  const many = Array.from({ length: 100 }, (_, n) => step(String(n), String(n + 1), n * 5_000));
  const kept = extendSteps<Fields>(many, step('100', '101', 600_000));
  expect(kept).toHaveLength(100);
  expect(kept.at(0)?.before).toEqual({ subject: '1' });
});
