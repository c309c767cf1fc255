import { describe, expect, it } from 'vitest';
import { readJson } from './json-fault.ts';

describe('a text as JSON', () => {
  it('reads the value; an empty text has none', () => {
    expect(readJson(' \n')).toEqual({ value: undefined });
    expect(readJson('{"a": [1, {"b": null}]}')).toEqual({ value: { a: [1, { b: null }] } });
    expect(readJson('"{{event.total}}"')).toEqual({ value: '{{event.total}}' });
  });

  it.each([
    ['{\n  "a": x\n}', 2, 8],
    ['{"a": [1', 1, 9],
    ['{"a": 1,}', 1, 9],
    ['{"a" 1}', 1, 6],
    ['[1 2]', 1, 4],
    ['{} {}', 1, 4],
    ['{"a": "half', 1, 7],
    ["{'a': 1}", 1, 2],
    ['{"a": {{event.total}}}', 1, 8],
  ])('%j has its error in line %i, column %i', (text, line, column) => {
    expect(readJson(text)).toMatchObject({ fault: { line, column } });
  });
});
