import { describe, expect, it } from 'vitest';
import { listContentFindings, listMissingVariablesFindings, type ReviewedContent } from './findings.ts';
import { listMissingVariables, listRequiredVariables } from './required-variables.ts';

function listFindings(body: string, more: Partial<ReviewedContent> = {}) {
  const content = { type: 'MARKETING' as const, namesUnsubscribe: true, subject: 'Hi', html: body, text: 'Hello' };
  return listContentFindings({ ...content, body, ...more });
}

const listCodes = (...args: Parameters<typeof listFindings>) => listFindings(...args).map(({ code }) => code);

describe('findings of a content', () => {
  it('are empty for an ordinary email', () => {
    expect(listCodes('<p><a href="https://a.example/x?n={{n}}">a</a> <img src="x.png" alt=""></p>')).toEqual([]);
  });

  it.each([
    'javascript:alert(1)',
    'ftp://a.example',
    '/path',
    'www.a.example',
    '//a.example',
    'http://',
    'file:///etc',
  ])('a link to %s is a finding', (href) => {
    const [finding] = listFindings(`<a href="${href}">x</a><a href='https://a.example'>y</a>`);
    expect(finding).toMatchObject({ code: 'bad_link', severity: 'error', details: { count: 1, links: [href] } });
  });

  it.each([
    'https://a.example',
    'HTTP://A.example/',
    '#top',
    'mailto:a@a.example',
    'tel:+1555',
    '{{url}}',
    'https://{{h}}/x',
  ])('a link to %s causes no finding', (href) => {
    expect(listCodes(`<a href="${href}">x</a>`)).toEqual([]);
  });

  it.each(['https://bit.ly/x', 'http://www.tinyurl.com/y?z', 'https://T.CO/{{code}}'])(
    '%s leads to a link shortener',
    (href) => {
      expect(listCodes(`<a href="${href}">x</a>`)).toEqual(['link_shortener']);
    },
  );

  it.each(['https://notbit.ly/x', 'https://bit.ly.example/x'])('%s is not a link shortener', (href) => {
    expect(listCodes(`<a href="${href}">x</a>`)).toEqual([]);
  });

  it('images without alt are listed', () => {
    const [finding] = listFindings('<img src="a.png"><img src="b.png" alt="B"><IMG SRC=c.png>');
    expect(finding).toMatchObject({ code: 'image_without_alt', details: { count: 2, images: ['a.png', 'c.png'] } });
  });

  it('HTML above 100 kB and a subject above 78 characters are findings, and exactly these sizes are not', () => {
    expect(listCodes('<p>', { html: 'x'.repeat(102_401), subject: 'é'.repeat(79) })).toEqual([
      'html_too_large',
      'subject_too_long',
    ]);
    expect(listCodes('<p>', { html: 'x'.repeat(102_400), subject: '😀'.repeat(78) })).toEqual([]);
  });

  it('a body of only linked images has no text', () => {
    expect(listCodes('<p>', { text: '[https://a.example/x] \nhttps://b.example' })).toEqual(['no_text']);
  });

  it('a body without the unsubscribe link has a note about the footer', () => {
    expect(listFindings('<p>', { namesUnsubscribe: false })).toMatchObject([
      { code: 'no_unsubscribe_link', severity: 'info' },
    ]);
  });

  it('variables that every recipient has cause no finding', () => {
    expect(listMissingVariablesFindings({ a: 0 })).toEqual([]);
    expect(listMissingVariablesFindings({ a: 0, b: 3 })).toMatchObject([{ details: { variables: { b: 3 } } }]);
  });
});

describe('variables that a content needs', () => {
  const listRequired = (body: string, subject = 'x', preheader: string | null = null) =>
    listRequiredVariables({ subject, body, preheader });

  it('are the variables that it prints without a default', () => {
    expect(
      listRequired('{{ b }} {{data.c | upcase}} {{d ?? there}} {{e | default: "x"}} {{address.city}}', '{{a}}'),
    ).toEqual(['a', 'address.city', 'b', 'c']);
  });

  it('include the variables of its preheader', () => {
    expect(listRequired('{{a}}', 'x', '{{b}} {{c ?? d}} {% if e %}{{e}}{% endif %}')).toEqual(['a', 'b']);
  });

  it('exclude variables of every message, tested variables, and variables that the template assigns', () => {
    const body =
      '{{email}} {{unsubscribeUrl}} {% if vip %}{{vip}}{% endif %} {% assign x = 1 %}{{x}} {% for i in items %}{{i.name}}{{forloop.index}}{% endfor %}';
    expect(listRequired(body)).toEqual([]);
  });

  it('exclude variables in comments', () => {
    expect(listRequired('{% comment %}{{ a }} {{ b | }}{% endcomment %}{{ c }}')).toEqual(['c']);
  });

  it('are missing if their value is absent, null or an empty text', () => {
    const vars = { a: 0, b: '', c: null, d: false, e: { f: 'x' } };
    expect(listMissingVariables(['a', 'b', 'c', 'd', 'e.f', 'e.g', 'h'], vars)).toEqual(['b', 'c', 'e.g', 'h']);
  });
});
