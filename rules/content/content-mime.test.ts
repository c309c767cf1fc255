import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { toSingleLine } from '../mime/mime-headers.ts';
import { markTrusted, markUntrusted } from '../provenance/provenance.ts';
import {
  type ContentSource,
  compileContent,
  compileWhole,
  type MessageHeaders,
  renderContent,
  renderMime,
} from './content.ts';

const urls = { baseUrl: 'https://mail.example', track: 'T_-'.repeat(14).padEnd(43, 'x'), manage: 'M'.repeat(43) };
const headers: MessageHeaders = {
  from: { name: 'Shop', email: 'shop@example.com' },
  to: { email: 'ada@example.com' },
  date: new Date('2026-11-21T08:00:00Z'),
  messageId: '<0199a6f0-1234-7abc-8def-0123456789ab@example.com>',
};

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({
    unit: fc.constantFrom(' ', '.', '\n', '\r\n', '=', 'a', 'é', '<', '&', '"', '{', '\t', '🎉'),
    maxLength: 200,
  }),
);
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
);
const vars = fc.record(
  {
    name: value,
    plan: value,
    url: fc.oneof(fc.webUrl(), text),
    items: fc.array(text, { maxLength: 4 }),
    data: fc.record({ city: value }),
  },
  { requiredKeys: [] },
);

/** Constant text around Liquid in emails, including text that encoders and HTML parsers may handle wrongly. */
const constant = fc.oneof(
  fc.constantFrom(
    '<p>',
    '</p>',
    '\n',
    '\r\n',
    '  <td>  ',
    '. ',
    '.',
    '<a href="https://a.example/?x=1&amp;y=2">',
    '</a>',
    '<br>',
    '</body>',
    ' = ',
    'é',
  ),
  fc.constantFrom(
    '<img src="cid:x">',
    '<!-- c -->',
    "<a href='mailto:x@example.com'>",
    '<style>p > a { }</style>',
    '&nbsp;',
    '<b title=x>',
    '\t',
  ),
  fc.string({ unit: 'grapheme', maxLength: 60 }).map((s) => s.replace(/[{}]/g, '')),
);
const liquid = fc.constantFrom(
  '{{name}}',
  '{{ name ?? there }}',
  '{{ plan | default: "free & easy" }}',
  '{{ plan | upcase }}',
  '{{name | raw}}',
  '{{ data.city }}',
  '{{- name -}}',
  '{{ missing.thing }}',
  '{{ name.size }}',
  '{{unsubscribeUrl}}',
  '<a href="{{url}}">u</a>',
  '<a href="https://a.example/{{plan}}">t</a>',
  '<p style="{{plan}}" title="{{name}}">',
  '{% if name %}<i>{{ name }}</i>{% else %}none{% endif %}',
  '{% for i in items %}{{ i }}<a href="https://b.example/">x</a>{% endfor %}',
  '{% unless plan %}a{% endunless %}',
  '{% raw %}{{ raw }}{% endraw %}',
  '{%- comment -%} {{ x }} {%- endcomment -%}',
);
const stateful = fc.constantFrom(
  '{% assign q = name %}',
  '{{ q }}',
  '{% increment n %}',
  '{% cycle "a", "b" %}',
  '{% capture c %}{{name}}{% endcapture %}{{ c | raw }}',
);

const createBody = (parts: fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...parts), { maxLength: 14 }).map((all) => all.join(''));
const createSource = (parts: fc.Arbitrary<string>[]): fc.Arbitrary<ContentSource> =>
  fc.record({
    subject: fc
      .array(
        fc.oneof(
          text.map((s) => s.replace(/[{}]/g, '')),
          fc.constantFrom('{{name}}', '{{ plan ?? "x y" }}'),
        ),
        { maxLength: 3 },
      )
      .map((s) => s.join('')),
    body: createBody(parts),
    type: fc.constantFrom('TRANSACTIONAL', 'MARKETING'),
    trackOpens: fc.boolean(),
    trackClicks: fc.boolean(),
    text: fc.oneof(
      { weight: 3, arbitrary: fc.constant(null) },
      createBody([constant, fc.constantFrom('{{name}}', '{{ plan ?? x }}')]),
    ),
  });
const anySource = fc.oneof(createSource([constant, liquid]), createSource([constant, liquid, stateful]));
const untrusted = fc.subarray(['name', 'plan', 'url', 'city']);

const normalizeLines = (value: string) => value.replace(/\r\n|\r|\n/g, '\n').replace(/\n+$/, '');

describe('a compiled message', { timeout: 30_000 }, () => {
  it('equals the output of the template library for the whole content', () => {
    fc.assert(
      fc.property(anySource, vars, untrusted, (content, values, names) => {
        const pieces = renderContent(compileContent(content), markUntrusted(values, names), urls);
        expect(pieces).toEqual(renderContent(compileWhole(content), markUntrusted(values, names), urls));
      }),
      {
        numRuns: 100,
        examples: [
          [
            {
              subject: '{{name}}{{ plan ?? "x y" }}',
              body: '',
              type: 'TRANSACTIONAL',
              trackOpens: false,
              trackClicks: false,
              text: null,
            },
            { plan: '.' },
            ['plan'],
          ],
        ],
      },
    );
  });

  it('is parsed to the same text that the API shows', async () => {
    await fc.assert(
      fc.asyncProperty(anySource, vars, untrusted, async (content, values, names) => {
        const compiled = compileContent(content);
        const shown = renderContent(compiled, markUntrusted(values, names), urls);
        const email = await PostalMime.parse(
          renderMime(compiled, { headers, vars: markUntrusted(values, names), urls }),
        );
        expect(normalizeLines(email.html ?? '')).toBe(normalizeLines(shown.html));
        expect(normalizeLines(email.text ?? '')).toBe(normalizeLines(shown.text));
        expect((email.subject ?? '').replace(/\s+/g, ' ')).toBe(toSingleLine(shown.subject).replace(/\s+/g, ' '));
      }),
      { numRuns: 100 },
    );
  });

  it('is built in canonical form: ASCII, CRLF, short lines, no leading dots, no double or trailing spaces', () => {
    fc.assert(
      fc.property(anySource, vars, (content, values) => {
        const mime = renderMime(compileContent(content), { headers, vars: markTrusted(values), urls });
        expect(mime).toMatch(/^[\x20-\x7e\r\n]*\r\n$/);
        expect(mime.replace(/\r\n/g, '')).not.toMatch(/[\r\n]/);
        const bodyLines = mime.slice(mime.indexOf('\r\n\r\n') + 4).split('\r\n');
        for (const line of bodyLines) {
          expect(line.length).toBeLessThanOrEqual(76);
          expect(line).not.toMatch(/^\.| {2}| $/);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('headers of a message', () => {
  const compileWith = (more: Partial<ContentSource> = {}) =>
    compileContent({
      subject: 'Hi {{name}}',
      body: '<p>x</p>',
      type: 'MARKETING',
      trackOpens: true,
      trackClicks: true,
      ...more,
    });

  it('contain each header once, and no header that a caller must not set', async () => {
    const mime = renderMime(compileWith(), {
      headers: {
        ...headers,
        replyTo: { name: 'Zoë', email: 'z@example.com' },
        listUnsubscribe: 'u@example.com',
        extra: [
          ['X-Tag', 'é\r\nBcc: x'],
          ['subject', 'other'],
          ['Content-Type', 'x/y'],
          // Stored with an email by an earlier release.
          ['X-SES-SOURCE-ARN', 'arn:evil'],
          ['Sender', 'evil@example.net'],
          ['List-Unsubscribe', '<https://evil.example>'],
          ['Resent-From', 'evil@example.net'],
        ],
      },
      vars: markTrusted({ name: 'Zoë' }),
      urls,
    });
    const email = await PostalMime.parse(mime);
    expect(email).toMatchObject({
      from: { name: 'Shop', address: 'shop@example.com' },
      to: [{ name: '', address: 'ada@example.com' }],
      replyTo: [{ name: 'Zoë', address: 'z@example.com' }],
      subject: 'Hi Zoë',
      messageId: headers.messageId,
      date: '2026-11-21T08:00:00.000Z',
    });
    const listHeaderValues = (name: string) =>
      email.headers.filter((header) => header.key === name).map((header) => header.value);
    expect(listHeaderValues('list-unsubscribe')).toEqual([
      `<https://mail.example/u/${urls.manage}>, <mailto:u@example.com>`,
    ]);
    expect(listHeaderValues('list-unsubscribe-post')).toEqual(['List-Unsubscribe=One-Click']);
    expect(listHeaderValues('subject')).toHaveLength(1);
    expect(listHeaderValues('content-type')).toHaveLength(1);
    expect(listHeaderValues('bcc')).toEqual([]);
    expect(mime).not.toContain('evil');
    expect(email.headers.find((header) => header.key === 'x-tag')?.value).toContain('=?utf-8?');
  });

  it('have no List-Unsubscribe unless it is requested', () => {
    const plain = renderMime(compileWith({ type: 'TRANSACTIONAL' }), { headers, vars: markTrusted({}), urls });
    expect(plain).not.toContain('List-Unsubscribe');
    expect(
      renderMime(compileWith(), { headers: { ...headers, listUnsubscribe: null }, vars: markTrusted({}), urls }),
    ).not.toContain('List-Unsubscribe');
  });

  it("use the service's new address when it changes", () => {
    const compiled = compileWith();
    renderMime(compiled, { headers, vars: markTrusted({}), urls });
    const moved = renderMime(compiled, {
      headers,
      vars: markTrusted({}),
      urls: { ...urls, baseUrl: 'https://other.example:8443/mail' },
    });
    expect(moved.replace(/=\r\n/g, '')).toContain('https://other.example:8443/mail/o/');
    expect(moved).not.toContain('mail.example/');
  });
});
