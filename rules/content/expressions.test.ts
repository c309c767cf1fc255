import { afterEach, describe, expect, it } from 'vitest';
import { evaluateExpression, findExpressionError, readWholeExpression } from './expressions.ts';
import { FilterDefect, wrapOwnFilter } from './filter-defect.ts';
import { findUnfinishedOutput, parseTemplate } from './liquid.ts';
import { PUBLIC_ENGINES } from './liquid-engine.ts';

const evaluate = (source: string, values: Record<string, unknown>) => {
  const expression = readWholeExpression(`{{ ${source} }}`);
  if (!expression) throw new Error(`${source} is not an expression`);
  return evaluateExpression(expression, values);
};

/**
 * Returns the error of an expression, or undefined. Runs without a time limit, which would take 130 µs for each call.
 */
function catchError(source: string, values: Record<string, unknown>): unknown {
  try {
    PUBLIC_ENGINES.plain.evalValueSync(source, values);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Values from JSON. Some objects have names with a meaning in JavaScript or Liquid, such as `toString`. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  '%E0%A4%A',
  '2027-01-01',
  '99999999999999999999',
  -1.5,
  1e300,
  true,
  [],
  [1, 'a', null],
  [{ a: 1 }, null, [1]],
  { toString: 5, valueOf: 7 },
  { length: -1, size: 3 },
  { toLiquid: 1, constructor: null },
  [{ toString: null }],
  { __zone: 5 },
];

describe('an expression', () => {
  it.each([
    ['x | base64_decode', 'no base64!'],
    ['x | url_decode', '%E0%A4%A'],
    ['x | split: ","', { toString: 1 }],
    ['"2027-01-01" | date: "%H", x', 'Mars/Olympus'],
  ])('%s counts as missing if the value does not fit the filter', (source, x) => {
    expect(evaluate(source, { x })).toBeUndefined();
  });

  it('causes no internal error, with any filter and values', () => {
    const scope = Object.fromEntries(VALUES.map((value, index) => [`v${index}`, value]));
    const names = Object.keys(scope);
    for (const filter of Object.keys(PUBLIC_ENGINES.plain.filters))
      for (const name of names)
        for (const source of [`${name} | ${filter}`, ...names.map((other) => `${name} | ${filter}: ${other}, v3`)])
          expect(catchError(source, scope), source).not.toBeInstanceOf(FilterDefect);
  });

  describe('that causes an internal error', () => {
    afterEach(() => PUBLIC_ENGINES.plain.unregisterFilter('broken'));

    it('fails, and does not count as missing', () => {
      const broken = wrapOwnFilter((): never => {
        throw new TypeError('undefined is not a function');
      });
      PUBLIC_ENGINES.plain.registerFilter('broken', broken);
      expect(() => evaluate('x | broken', { x: 1 })).toThrow(FilterDefect);
    });
  });
});

describe('a text of a config', () => {
  it.each(['{% if plan %}a{% endif %}', 'a\n {%- assign x = 1 -%}'])(
    'must not contain tags of templates: %j',
    (text) => {
      expect(findExpressionError(text)).toMatch(/^Tags such as {% if %} are for templates.*\(line \d, column \d\)$/);
    },
  );

  it.each(['{{{ x }}}', 'a {{{x}} b', '{"a": {{{ event.pairs | upcase }}}}'])(
    'must not contain three braces, like a template: %j',
    (text) => {
      const message = /^invalid value expression: "\{.*\(line 1, column \d\)$/;
      expect(findExpressionError(text)).toMatch(message);
      expect(() => parseTemplate(text, 'plain')).toThrow(/^invalid value expression: "\{/);
    },
  );

  it.each(['{ {{ x }} }', '{"a":{"b":{{ x }}}}', '{{ x }}}'])('may have braces around an expression: %j', (text) => {
    expect(findExpressionError(text)).toBeUndefined();
    expect(() => parseTemplate(text, 'plain')).not.toThrow();
  });

  it.each([
    ['{{ event. }}', '.'],
    ['a\n {{ x | }}', '|'],
    ['{{x|-}}', '|'],
  ])('must not contain an unfinished expression, like a new template: %j', (text, end) => {
    expect(findExpressionError(text)).toMatch(`An expression cannot end in "${end}" (line `);
    expect(findUnfinishedOutput(text, 'subject')?.message).toBe(`An expression cannot end in "${end}"`);
    // A saved expression keeps working.
    expect(() => parseTemplate(text, 'plain')).not.toThrow();
  });

  it('must not contain an empty filter, which a body or subject could not render', () => {
    expect(() => parseTemplate('<p>{{ x | }}</p>', 'html')).toThrow('An expression cannot end in "|"');
    expect(() => parseTemplate('Hi {{ x | }}', 'plain', 'subject')).toThrow('An expression cannot end in "|"');
    expect(() => parseTemplate('<p>{{ data. }}</p>', 'html')).not.toThrow();
  });

  it.each(['{{ x ?? dear friend. }} {{ y ?? "a|" }}', '{{ "a." }}', 'x. {{ x }} | }}'])(
    'may end in quotes or words after ??: %j',
    (text) => {
      expect(findExpressionError(text)).toBeUndefined();
      expect(findUnfinishedOutput(text, 'body')).toBeUndefined();
    },
  );

  it.each(['100 {%', '{ "off": "10%}" }', '{%25}'])('may have other braces and signs: %j', (text) => {
    expect(findExpressionError(text)).toBeUndefined();
  });
});
