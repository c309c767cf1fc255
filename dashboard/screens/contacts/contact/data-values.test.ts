import { describe, expect, it } from 'vitest';
import { detectType, formatForInput, readDraft, VALUE_TYPES } from './data-values.ts';

describe('a value of data', () => {
  it.each([
    ['pro', 'text'],
    ['2026-01-31', 'date'],
    ['2026-01-31T10:00:00Z', 'date'],
    ['2026', 'text'],
    [5, 'number'],
    [false, 'boolean'],
    [['a', 'b'], 'list'],
    [[], 'list'],
    [['a', 1], 'json'],
    [{ a: 1 }, 'json'],
  ])('%j is edited as %s, and comes back as it was', (value, type) => {
    expect(detectType(value)).toBe(type);
    expect(readDraft(formatForInput(value, detectType(value)), detectType(value))).toEqual({ value });
  });

  it('describes the error of its input', () => {
    expect(readDraft('x', 'number')).toEqual({ fault: 'notANumber' });
    expect(readDraft('2026-02-31x', 'date')).toEqual({ fault: 'notADate' });
    expect(readDraft('{', 'json')).toEqual({ fault: 'notJson' });
    expect(readDraft('null', 'json')).toEqual({ fault: 'notEmpty' });
    for (const type of VALUE_TYPES) expect(readDraft(' ', type)).toEqual({ fault: 'notEmpty' });
  });

  it('starts with a value that can be saved if its type is boolean', () => {
    expect(readDraft(formatForInput(undefined, 'boolean'), 'boolean')).toEqual({ value: true });
    expect(formatForInput(undefined, 'text')).toBe('');
  });
});
