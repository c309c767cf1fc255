import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  applyEdit,
  createAttributeEdit,
  createTextEdit,
  createWrapEdits,
  readAttribute,
  readButtonColor,
} from './source-edits.ts';
import { parseSource, withTypedText } from './source-model.ts';
import { findParts, getShownText, type TagPart, type TextPart } from './source-parts.ts';
import { renderVisualDocument } from './visual-document.ts';

const FOLDER = join(import.meta.dirname, 'newsletters');
const NEWSLETTERS = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const);

const wordsOf = (source: string) =>
  findParts(source).parts.filter((part): part is TextPart => part.kind === 'text' && part.role === 'words');
const tagsOf = (source: string) => findParts(source).parts.filter((part): part is TagPart => part.kind !== 'text');

/** Returns the source after the text `before` was replaced with `after` by typing. */
function retype(source: string, before: string, after: string): string {
  const part = wordsOf(source).find((one) => getShownText(one).includes(before));
  if (!part) throw new Error(`nothing reads ${before}`);
  return withTypedText(parseSource(source), part.id, getShownText(part).replace(before, after)).source;
}

describe.each(NEWSLETTERS)('the newsletter %s', (_, source) => {
  it('has text parts and links to edit', () => {
    expect(wordsOf(source).length).toBeGreaterThan(1);
    expect(tagsOf(source).length).toBeGreaterThan(0);
  });

  it('stays the same byte for byte if the same text is typed', () => {
    for (const part of wordsOf(source)) expect(createTextEdit(part, getShownText(part))).toBeUndefined();
  });

  it('changes only by the typed characters, at both ends and in the middle of each text part, and back', () => {
    for (const part of wordsOf(source)) {
      const shown = [...getShownText(part)];
      for (const at of [0, Math.floor(shown.length / 2), shown.length]) {
        const now = [...shown.slice(0, at), 'Ω', ...shown.slice(at)].join('');
        const model = withTypedText(parseSource(source), part.id, now);
        const index = model.source.indexOf('Ω');
        expect(model.source.slice(0, index) + model.source.slice(index + 1)).toBe(source);
        expect(withTypedText(model, part.id, shown.join('')).source).toBe(source);
      }
    }
  });

  it('keeps the rest when every text part is replaced, one after the other, without being redrawn', () => {
    let model = parseSource(source);
    const before = wordsOf(source);
    for (const { id } of before) model = withTypedText(model, id, `[${id}]`);
    let rest = source;
    for (const part of before.toReversed()) rest = applyEdit(rest, { ...part, replacement: `[${part.id}]` });
    expect(model.source).toBe(rest);
  });

  it('changes addresses of links and images, and back, byte for byte', () => {
    for (const part of tagsOf(source)) {
      for (const [name, range] of part.attributes) {
        const raw = source.slice(range.start, range.end);
        const other = applyEdit(source, createAttributeEdit(part, name, 'https://x.example/{{ a | append: "b" }}'));
        const now = tagsOf(other).find(({ start }) => start === part.start);
        const there = now?.attributes.get(name);
        if (!now || !there) throw new Error(`${name} is gone`);
        expect(other.slice(there.start, there.end)).toMatch(/^https:\/\/x\.example\/\{\{ a \| append: ["']b["'] \}\}$/);
        expect(other.slice(0, range.start - 1)).toBe(source.slice(0, range.start - 1));
        // The attribute was written without quotes and gets quotes.
        const back = applyEdit(other, { start: there.start, end: there.end, replacement: raw });
        expect(range.quote === '' ? back.length : back).toBe(range.quote === '' ? source.length + 2 : source);
        expect(readAttribute(source, part, name)).toBeDefined();
      }
    }
  });

  it('is shown without scripts, links that navigate, or a base address', () => {
    const shown = renderVisualDocument(parseSource(source), {
      script: 'https://x.example/f.js',
      isReadOnly: false,
    });
    expect(shown.match(/<script/gi)).toHaveLength(1);
    expect(shown).not.toMatch(/<base|http-equiv="?(refresh|content-type)/i);
    expect(shown.match(/data-tidings-text/g)?.length).toBeGreaterThanOrEqual(wordsOf(source).length);
  });
});

describe('typing', () => {
  it('is escaped, except Liquid', () => {
    expect(retype('<p>a b</p>', 'b', '<b> & {{ x > 1 ?? "<" }}')).toBe('<p>a &lt;b&gt; &amp; {{ x > 1 ?? "<" }}</p>');
  });

  it('does not change adjacent entities, line breaks and Liquid', () => {
    const source = '<p>\n  Gr&uuml;&szlig;e&nbsp;an {{ name | default: "you" }}\n  und alle</p>';
    expect(retype(source, 'alle', 'alle anderen')).toBe(source.replace('alle', 'alle anderen'));
  });

  it('writes a new line as a `<br>` within the same text part', () => {
    const first = withTypedText(parseSource('<p>one two</p><p>three</p>'), 0, 'one\ntwo');
    expect(first.source).toBe('<p>one<br>two</p><p>three</p>');
    expect(withTypedText(first, 0, 'one\ntwo\nx').source).toBe('<p>one<br>two<br>x</p><p>three</p>');
    expect(withTypedText(parseSource('<p>a<br class="x"/>\n b</p>'), 0, 'a\n c').source).toBe(
      '<p>a<br class="x"/>\n c</p>',
    );
  });

  it('can empty a text part and fill it again', () => {
    const model = parseSource('<p>one</p><p>two</p>');
    const empty = withTypedText(model, 0, '');
    expect(empty.source).toBe('<p></p><p>two</p>');
    expect(withTypedText(withTypedText(empty, 1, 'zwei'), 0, 'eins').source).toBe('<p>eins</p><p>zwei</p>');
  });

  it('writes the space at the edge of a text as a plain space, although a browser makes it non-breaking', () => {
    expect(retype('<p>one</p>', 'one', 'one\u00a0')).toBe('<p>one </p>');
    expect(retype('<p>a&nbsp;b</p>', 'b', 'b\u00a0c')).toBe('<p>a&nbsp;b&nbsp;c</p>');
  });
});

describe('the parts of an email', () => {
  it('are shown without event handlers, and are saved unchanged', () => {
    const source = `<img src=a ONERROR="alert('<1>')" alt=b><body onload=alert(2)><svg onload='alert(3)'/><p>words</p>`;
    const shown = renderVisualDocument(parseSource(source), { script: 'f.js', isReadOnly: false });
    expect(shown).not.toMatch(/alert|onload|onerror/i);
    expect(shown).toMatch(/<img data-tidings="0" src=a {2}alt=b><body ><svg \/><p><span/);
    expect(retype(source, 'words', 'Words')).toBe(source.replace('words', 'Words'));
  });

  it('are not text in Liquid with markup, in styles, or between the rows of a table', () => {
    const roles = findParts(
      '<style>a</style><p>{{ a | replace: "<b>", "x" }} b</p><p>{{ a | replace: "<br>", "x" }}</p><table>{% for %}<tr><td>c</td></tr></table>',
    );
    const seen = roles.parts.map((part) =>
      part.kind === 'text' ? `${part.role} ${getShownText(part).trim()}` : part.kind,
    );
    expect(seen).toEqual([
      'locked a',
      'locked {{ a | replace: "',
      'locked ", "x" }} b',
      'locked {{ a | replace: "\n", "x" }}',
      'locked {% for %}',
      'words c',
    ]);
  });

  it('wrap the selected text, also next to entities', () => {
    const [part] = wordsOf('<p>a &amp; b c</p>');
    if (!part) throw new Error('no words');
    expect(createWrapEdits(part, 2, 5, '<b>', '</b>').reduce(applyEdit, '<p>a &amp; b c</p>')).toBe(
      '<p>a <b>&amp; b</b> c</p>',
    );
  });

  it('have the color of a button, unless styles decide it', () => {
    const source = '<p><a href="b">no</a></p><td bgcolor="#0c6673" style="padding:0">\n<a href="a">Read</a></td>';
    const [plain, button] = tagsOf(source);
    if (!plain || !button) throw new Error('no links');
    expect(readButtonColor(source, plain)).toBeUndefined();
    const range = readButtonColor(source, button);
    if (!range) throw new Error('no color');
    expect(applyEdit(source, { ...range, replacement: '#aa0000' })).toBe(source.replace('#0c6673', '#aa0000'));
    const styled = source.replace('padding:0', 'background:#fff');
    const link = tagsOf(styled)[1];
    expect(link && readButtonColor(styled, link)).toBeUndefined();
  });

  it('can get an attribute that their tag lacks', () => {
    const source = '<p><img src=a.png></p>';
    const [part] = tagsOf(source);
    if (!part) throw new Error('no tag');
    expect(applyEdit(source, createAttributeEdit(part, 'alt', 'A "b"'))).toBe(
      '<p><img alt="A &quot;b&quot;" src=a.png></p>',
    );
    expect(applyEdit(source, createAttributeEdit(part, 'src', 'b.png?x=1&y'))).toBe(
      '<p><img src="b.png?x=1&amp;y"></p>',
    );
  });
});
