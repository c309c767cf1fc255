import { describe, expect, it, vi } from 'vitest';
import { readThreadCpuMs } from '../time-limit.ts';
import { listTemplateVariables, parseTemplate, renderTemplate } from './liquid.ts';
import { rewriteDefaults } from './liquid-default.ts';
import { TemplateError, toTemplateRefusal } from './template-error.ts';

const renderHtml = (source: string, scope = {}) => renderTemplate(source, 'html', scope);
const renderPlain = (source: string, scope = {}) => renderTemplate(source, 'plain', scope);

function catchFault(source: string): TemplateError {
  try {
    parseTemplate(source, 'html', 'body');
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error('parsed');
}

describe('values', () => {
  it('are escaped in bodies, not in subjects, and `raw` opts out', () => {
    const scope = { x: `<b>"Tom" & 'Jerry'</b>` };
    expect(renderHtml('{{x}}', scope)).toBe('&lt;b&gt;&#34;Tom&#34; &amp; &#39;Jerry&#39;&lt;/b&gt;');
    expect(renderHtml('{{x | raw}}', scope)).toBe(scope.x);
    expect(renderPlain('{{x}}', scope)).toBe(scope.x);
  });

  it('are escaped once by an explicit `escape`, and the only markup that `newline_to_br` adds is line breaks', () => {
    expect(renderHtml('{{x | escape}} {{x | upcase | escape_once}}', { x: '<' })).toBe('&lt; &lt;');
    expect(renderHtml('{{x | newline_to_br}}', { x: 'a<\nb' })).toBe('a&lt;<br />\nb');
  });

  it('that are missing render empty', () => {
    expect(renderHtml('[{{a}}{{a.b.c}}{{a[0]}}{% if a %}x{% endif %}]')).toBe('[]');
  });

  it.each(['nil', 'empty', 'x | default: nil', 'nil | date: "%Y"'])(
    'that have no text in Liquid are empty: %s',
    (source) => {
      expect(renderPlain(`[{{ ${source} }}]`)).toBe('[]');
    },
  );

  it('that are objects become JSON in every filter', () => {
    expect(renderPlain('{{ o | strip_html }}', { o: { a: 1 } })).toBe('{"a":1}');
  });

  it('that contain Liquid are text', () => {
    expect(renderHtml('{{x}}', { x: '{{y}}{% if true %}', y: 'no' })).toBe('{{y}}{% if true %}');
  });

  it('Liquid reads only own properties of values', () => {
    expect(renderHtml('[{{constructor}}{{x.__proto__}}{{x.constructor.name}}{{toString}}]', { x: {} })).toBe('[]');
  });
});

describe('??', () => {
  it.each([
    ['x ?? there', 'x | default: "there"'],
    ['x ?? "some words"', 'x | default: "some words"'],
    ["x ?? 'a | b'", "x | default: 'a | b'"],
    ['x ?? dear customer | upcase', 'x | default: "dear customer" | upcase'],
    ['x | upcase ?? there', 'x | upcase | default: "there"'],
    ['"a ?? b" | append: x', '"a ?? b" | append: x'],
    ['x ?? a ?? b', 'x | default: "a" | default: "b"'],
    ['x??y', 'x | default: "y"'],
    ['x ??', 'x | default: ""'],
  ])('the ?? operator: %s is %s', (expression, expected) => {
    expect(rewriteDefaults(expression).replace(/\s+/g, ' ').trim()).toBe(expected);
  });

  it('the ?? operator means the default filter', () => {
    const source = 'Hi {{ name ?? there }}, {{ a ?? "}} no" }} {{- b ?? c -}} !';
    expect(renderHtml(source)).toBe('Hi there, }} noc!');
    expect(renderHtml(source, { name: 'Ada', a: 1, b: false })).toBe('Hi Ada, 1c!');
  });
});

describe('refused templates', () => {
  it.each(['include "x"', 'render "x"', 'layout "x"', 'block x', 'echo x', 'liquid', 'nope'])(
    'Liquid refuses the tag %s',
    (tag) => {
      expect(catchFault(`{% ${tag} %}`).message).toContain('not found');
    },
  );

  it.each(['where_exp', 'inspect', '__guard', '__raw', 'sample', 'nope'])('Liquid refuses the filter %s', (filter) => {
    expect(catchFault(`{{ x | ${filter} }}`).message).toContain('undefined filter');
  });

  it.each([
    '{{ x',
    '{% if x %}',
    '{{ first name }}',
    '{{ }}',
    '{{ x | }} y {{ | }}',
    '{% cycle name, "b" %}',
    '{{{x}}}',
  ])('Liquid refuses %s', (source) => {
    expect(catchFault(source)).toBeInstanceOf(TemplateError);
  });

  it('Liquid accepts any tag inside a comment', () => {
    expect(renderHtml('a{% comment %}{{ not liquid }}{{ x | nope }}{% endcomment %}b')).toBe('ab');
  });

  it.each([
    ['a\n  {% bad %}', 2, 3],
    ['{{ a ?? some words }} {{ b | nope }}', 1, 23],
    ['{{ a ?? w }}\n{{ b ?? w }} {% if x %}', 2, 14],
    ['<p>\n{{ x', 2, 1],
    ['x {{ first name }}', 1, 3],
  ])('with line and column of the source: %j', (source, line, column) => {
    const error = catchFault(source);
    expect([error.line, error.column, error.field]).toEqual([line, column, 'body']);
    expect(error.message).not.toMatch(/line:/);
    expect(toTemplateRefusal(error)).toMatchObject({
      status: 422,
      errors: [{ field: 'body' }],
      details: { line, column },
    });
  });
});

describe('bounds', () => {
  const big = 'x'.repeat(60_000);
  it.each([
    ['a long loop', '{% for i in (1..1000000) %}{% for j in (1..1000000) %}{{ i | times: j }}{% endfor %}{% endfor %}'],
    ['text that doubles', `{% assign a = x %}${'{% assign a = a | append: a %}'.repeat(40)}{{ a }}`],
    ['replacing short by long', '{{ x | replace: "x", x }}'],
    ['output in a loop', '{% for i in (1..100000) %}{{ x }}{% endfor %}'],
    ['splitting in a loop', '{% for i in (1..100000) %}{% assign q = x | split: "" | sort | join: "," %}{% endfor %}'],
  ])('%s is stopped quickly, with an error', (_, source) => {
    const start = readThreadCpuMs();
    expect(() => renderHtml(source, { x: big })).toThrow(TemplateError);
    expect(readThreadCpuMs() - start).toBeLessThan(1_000);
  });

  it('endless nesting is an error, not a crash', () => {
    expect(() => parseTemplate('{% if x %}'.repeat(50_000), 'html')).toThrow(TemplateError);
    expect(() => parseTemplate('x'.repeat(2_000_001), 'html')).toThrow(TemplateError);
  });
});

it('a template is not refused only because other processes keep the machine busy', () => {
  let atMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    atMs += 1_000;
    return atMs;
  });
  try {
    expect(renderTemplate('{% for n in (1..3) %}{{ n }}{% endfor %}', 'html', {})).toBe('123');
  } finally {
    clock.mockRestore();
  }
});

describe('variables of a template', () => {
  it('are found in every position, as paths', () => {
    const source = '{{ a.b }}{% assign q = data.c %}{% for i in list[x] %}{{ i.z }}{{ q }}{% endfor %}';
    const paths = listTemplateVariables(parseTemplate(source, 'html')).map((path) => path.join('.'));
    expect(paths).toEqual(expect.arrayContaining(['a.b', 'data.c', 'list.*', 'x']));
  });
});
