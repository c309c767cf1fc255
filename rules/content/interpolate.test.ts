import { describe, expect, it } from 'vitest';
import { markTrusted, markUntrusted } from '../provenance/provenance.ts';
import { readThreadCpuMs } from '../time-limit.ts';
import { interpolate, interpolateFields, interpolateJson, readsUntrustedValue } from './interpolate.ts';

const KEEP = { untrusted: 'keep' } as const;

describe('interpolate', () => {
  const variables = markTrusted({ name: 'Ada', plan: { tier: 2 }, empty: '', event: { total: 12.5 } });

  it('inserts values, nested values and JSON of objects', () => {
    expect(interpolate('Hi {{name}}, {{ plan.tier }}, {{event.total}}, {{plan}}', variables, KEEP)).toBe(
      'Hi Ada, 2, 12.5, {"tier":2}',
    );
  });

  it('uses a fallback, with or without quotes, if the value is missing or empty', () => {
    expect(interpolate('{{x ?? friend}} {{empty ?? "dear friend"}} {{name ?? nobody}} {{x}}', variables, KEEP)).toBe(
      'friend dear friend Ada ',
    );
  });

  it.each([
    ['{{ name | upcase }}-{{ event.total | times: 2 }}', 'ADA-25'],
    ['a  {{- name -}}  b', 'aAdab'],
    ['{{ x | upcase ?? "none" }}', 'none'],
    ['{{ plan | json }} {{ tags }} {{ tags.size }} {{ true }}', '{"tier":2} ["a",{"b":1}] 2 true'],
    ['{{ "}}" }}{{ x | nofilter }} {{ open', '}}{{ x | nofilter }} {{ open'],
  ])('reads %s in the same way as templates', (template, expected) => {
    const more = markTrusted({ ...variables.values, tags: ['a', { b: 1 }] });
    expect(interpolate(template, more, KEEP)).toBe(expected);
  });

  it('keeps the type of a lone expression, and is untrusted if the expression reads an untrusted name', () => {
    expect(interpolateJson('{{ event.total | times: 2 }}', variables)).toEqual({ value: 25, untrusted: false });
    const ofEvent = markUntrusted(variables.values, ['event']);
    for (const text of ['{{ event.total | times: 2 }}', '{{ name | append: event.total }}', '{{ event["total"] }}'])
      expect(interpolateJson(text, ofEvent).untrusted, text).toBe(true);
    expect(
      interpolate('{{ event.total | default: 1 }}{{ name | append: event.total }}', ofEvent, { untrusted: 'omit' }),
    ).toBe('1Ada');
  });

  it('a variable never reads inherited properties', () => {
    expect(interpolate('{{constructor}}{{name.constructor}}', variables, KEEP)).toBe('');
  });

  it('omits values that the public key wrote', () => {
    const untrusted = markUntrusted(variables.values, ['name']);
    expect(interpolate('https://a.example/{{name}}', untrusted, { untrusted: 'omit' })).toBe('https://a.example/');
  });

  it('does not evaluate what a value contains', () => {
    expect(interpolate('{{name}}', markTrusted({ name: '{{event.total}}' }), KEEP)).toBe('{{event.total}}');
  });

  it('keeps the type of a lone value in JSON', () => {
    expect(
      interpolateJson({ a: '{{event.total}}', b: ['{{name}}!'], c: '{{missing}}', d: 7 }, variables).value,
    ).toEqual({
      a: 12.5,
      b: ['Ada!'],
      c: null,
      d: 7,
    });
  });
});

describe('data that the public key wrote', () => {
  const variables = markUntrusted({ name: 'x', data: { name: 'x', plan: 'pro' }, event: { a: 1 } }, ['name']);
  it.each([
    ['{{name}}', ''],
    ['{{data.name ?? nobody}}', 'nobody'],
    ['{{data.plan}}', 'pro'],
    ['{{data}}', ''],
    ['{{event.a}}', '1'],
  ])('is omitted from %s', (template, expected) => {
    expect(interpolate(template, variables, { untrusted: 'omit' })).toBe(expected);
  });

  it.each([
    ['{{name}}', true],
    ['Dear {{ data.name ?? "you" }}', true],
    ['{{data}}', true],
    ['{{data.plan}} {{event.a}}', false],
    ['name', false],
  ])('whether %s reads data that the public key wrote: %s', (template, expected) => {
    expect(readsUntrustedValue(template, variables)).toBe(expected);
    expect(readsUntrustedValue(template, markTrusted(variables.values))).toBe(false);
  });

  it('makes a field with its name untrusted, at any depth, also if a fallback is used', () => {
    const ofEvent = markUntrusted({ event: { site: 'x' }, plan: 'pro' }, ['event']);
    const fields = {
      a: '{{event.site}}',
      b: { c: ['x', 'By {{event.nobody ?? us}}'] },
      d: '{{plan}}',
      e: 7,
      f: 'event',
    };
    const { values, untrusted } = interpolateFields(fields, ofEvent);
    expect(values).toEqual({ a: 'x', b: { c: ['x', 'By us'] }, d: 'pro', e: 7, f: 'event' });
    expect([...untrusted]).toEqual(['a', 'b']);
  });
});

it('is fast for unusual text, too', () => {
  const start = readThreadCpuMs();
  for (const odd of [`{{a ??${' '.repeat(50_000)}`, '{{a'.repeat(50_000), `{{a ?? ${'"x'.repeat(50_000)}`])
    interpolate(odd, markTrusted({}), KEEP);
  expect(readThreadCpuMs() - start).toBeLessThan(1_000);
});
