import { describe, expect, it } from 'vitest';
import { interpolate, interpolateJson } from './interpolate.ts';

describe('interpolate', () => {
  const variables = { name: 'Ada', plan: { tier: 2 }, empty: '', event: { total: 12.5 } };

  it('puts in values, nested values and JSON of objects', () => {
    expect(interpolate('Hi {{name}}, {{ plan.tier }}, {{event.total}}, {{plan}}', variables)).toBe(
      'Hi Ada, 2, 12.5, {"tier":2}',
    );
  });

  it('takes a fallback, bare or quoted, where the value is missing or empty', () => {
    expect(interpolate('{{x ?? friend}} {{empty ?? "dear friend"}} {{name ?? nobody}} {{x}}', variables)).toBe(
      'friend dear friend Ada ',
    );
  });

  it('never reads inherited properties', () => {
    expect(interpolate('{{constructor}}{{name.constructor}}', variables)).toBe('');
  });

  it('leaves out values that the public key wrote', () => {
    expect(interpolate('https://a.example/{{name}}', variables, { without: new Set(['name']) })).toBe(
      'https://a.example/',
    );
  });

  it('does not evaluate what a value contains', () => {
    expect(interpolate('{{name}}', { name: '{{event.total}}' })).toBe('{{event.total}}');
  });

  it('keeps the type of a value that stands alone in JSON', () => {
    expect(interpolateJson({ a: '{{event.total}}', b: ['{{name}}!'], c: '{{missing}}', d: 7 }, variables)).toEqual({
      a: 12.5,
      b: ['Ada!'],
      c: null,
      d: 7,
    });
  });
});

describe('what the public key wrote', () => {
  const variables = { name: 'x', data: { name: 'x', plan: 'pro' }, event: { a: 1 } };
  it.each([
    ['{{name}}', ''],
    ['{{data.name ?? nobody}}', 'nobody'],
    ['{{data.plan}}', 'pro'],
    ['{{data}}', ''],
    ['{{event.a}}', '1'],
  ])('is left out of %s', (template, expected) => {
    expect(interpolate(template, variables, { without: new Set(['name']) })).toBe(expected);
  });
});

it('takes no longer for odd text than for any other', () => {
  const start = performance.now();
  for (const odd of [`{{a ??${' '.repeat(50_000)}`, '{{a'.repeat(50_000), `{{a ?? ${'"x'.repeat(50_000)}`])
    interpolate(odd, {});
  expect(performance.now() - start).toBeLessThan(1_000);
});
