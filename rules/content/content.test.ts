import { describe, expect, it } from 'vitest';
import { encodeQuotedPrintable } from '../mime/quoted-printable.ts';
import { markTrusted, markUntrusted } from '../provenance/provenance.ts';
import { runWithTimeLimit } from '../time-limit.ts';
import {
  buildListUnsubscribeHeaders,
  type ContentSource,
  compileContent,
  renderContent,
  resolveLink,
} from './content.ts';
import { htmlToText } from './content-text.ts';
import { TemplateError } from './template-error.ts';

const urls = { baseUrl: 'https://mail.example', track: 'T'.repeat(43), manage: 'M'.repeat(43) };
const CLICK = `https://mail.example/c/${urls.track}`;
const UNSUBSCRIBE = `https://mail.example/u/${urls.manage}`;

function createSource(body: string, more: Partial<ContentSource> = {}): ContentSource {
  return { subject: 'Hi', type: 'TRANSACTIONAL', trackOpens: false, trackClicks: false, ...more, body };
}

function renderHtml(body: string, vars = {}, more: Partial<ContentSource> = {}): string {
  return renderContent(compileContent(createSource(body, more)), markTrusted(vars), urls).html;
}

describe('click tracking', () => {
  const compileTracked = (body: string) => compileContent(createSource(body, { trackClicks: true }));

  it('rewrites links and stores each target once', () => {
    const content = compileTracked(
      '<a href="https://a.example/?x=1&amp;y=2">a</a> <A HREF=\'https://b.example\'>b</A> <a href=https://b.example>c</a>',
    );
    expect(content.links).toEqual(['https://a.example/?x=1&y=2', 'https://b.example']);
    expect(renderContent(content, markTrusted({}), urls).html).toBe(
      `<a href="${CLICK}/0">a</a> <A HREF='${CLICK}/1'>b</A> <a href=${CLICK}/1>c</a>`,
    );
  });

  it('leads each link to its target, even if the preheader assigns a variable that a link contains', () => {
    const content = compileContent(
      createSource('<a href="https://a.example/{{x}}">a</a> <a href="https://b.example">b</a>', {
        trackClicks: true,
        preheader: '{% assign x = 1 %}Hello',
      }),
    );
    expect(renderContent(content, markTrusted({}), urls).html).toContain(
      `<a href="https://a.example/1">a</a> <a href="${CLICK}/0">b</a>`,
    );
    expect(content.links).toEqual(['https://b.example']);
  });

  it.each([
    'mailto:a@example.com',
    'tel:+3212345678',
    '#top',
    '/relative',
    'javascript:alert(1)',
    '{{unsubscribeUrl}}',
    '{{manageUrl}}',
    '{{ base }}/{% if a %}x{% endif %}',
    '{{ subscribeUrl | append: "?x" }}',
    'https://example.com\\{{ rest }}',
    '{% if a %}https://a.example/{% endif %}',
    'https://a.example/{% if a %}x{% endif %}',
    'https://a.example/{{ forloop.index }}',
  ])('does not change %s', (href) => {
    expect(compileTracked(`<a href="${href}">x</a>`).links).toEqual([]);
  });

  it('stores a link with variables in path and query as a template, resolved when it is clicked', () => {
    const content = compileTracked('<a href="https://a.example/{{ plan ?? free }}?id={{id}}&amp;q={{ data.q }}">x</a>');
    const [link = ''] = content.links;
    expect(resolveLink(link, markTrusted({ id: '7', data: { q: 'a b' } }))).toBe('https://a.example/free?id=7&q=a%20b');
    expect(resolveLink(link, markTrusted({ id: '7', plan: '//evil.example/@', data: {} }))).toBe(
      'https://a.example///evil.example/@?id=7&q=',
    );
    expect(renderContent(content, markTrusted({ id: '7' }), urls).html).toBe(`<a href="${CLICK}/0">x</a>`);
  });

  describe('for a link that is one variable', () => {
    const body =
      '<a href="{{ url }}">x</a> <a href="https://a.example/">y</a> <a href=" {{ data.site | default: url }} ">z</a>';
    const content = compileTracked(body);
    const shown = (vars: Parameters<typeof renderContent>[1]) => renderContent(content, vars, urls).html;

    it('gets a number after the other links, whose numbers do not change', () => {
      expect(content.links).toEqual(['https://a.example/', '{{ url }}', '{{ data.site | default: url }}']);
      expect(shown(markTrusted({ url: 'https://b.example/?a=1&b=2' }))).toBe(
        `<a href="${CLICK}/1">x</a> <a href="${CLICK}/0">y</a> <a href="${CLICK}/2">z</a>`,
      );
    });

    it('redirects to its value', () => {
      const vars = markTrusted({ url: 'https://b.example/?a=1&b=2', data: { site: 'http://c.example/' } });
      expect(content.links.map((link) => resolveLink(link, vars))).toEqual([
        'https://a.example/',
        'https://b.example/?a=1&b=2',
        'http://c.example/',
      ]);
    });

    it.each([
      ['mailto:a@b.example', 'mailto:a@b.example'],
      ['javascript:alert(1)', '#'],
      ['', '#'],
    ])('does not track or change %j', (url, href) => {
      expect(shown(markTrusted({ url }))).toContain(`<a href="${href}">x</a>`);
      expect(resolveLink('{{ url }}', markTrusted({ url }))).toBeUndefined();
    });

    it('is empty for an untrusted value', () => {
      const vars = markUntrusted({ url: 'https://evil.example/' }, ['url']);
      expect(shown(vars)).toContain('<a href="#">x</a>');
      expect(content.links.slice(1).map((link) => resolveLink(link, vars))).toEqual([undefined, undefined]);
    });
  });

  it('tracks an address of a base variable and a path, with a number after the other links', () => {
    const content = compileTracked(
      '<a href="{{ base }}/a?x=1&amp;y=2">x</a> <a href="{{ url }}">y</a> <a href="{{data.b}}#z ">z</a>',
    );
    expect(content.links).toEqual(['{{ url }}', '{{ base }}/a?x=1&y=2', '{{ data.b }}#z']);
    const vars = markTrusted({
      base: 'https://b.example',
      url: 'https://c.example/',
      data: { b: 'mailto:a@b.example' },
    });
    expect(renderContent(content, vars, urls).html).toBe(
      `<a href="${CLICK}/1">x</a> <a href="${CLICK}/0">y</a> <a href="mailto:a@b.example#z ">z</a>`,
    );
    expect(resolveLink(content.links[1] ?? '', vars)).toBe('https://b.example/a?x=1&y=2');
    const evil = markUntrusted({ base: 'https://evil.example' }, ['base']);
    expect(renderContent(content, evil, urls).html).not.toContain('evil.example');
    expect(resolveLink(content.links[1] ?? '', evil)).toBeUndefined();
  });

  it.each([
    ['https://{{ host }}/x?y=1', 'https://h.example/x?y=1'],
    ['HTTP://{{ host }}', 'http://h.example/'],
    [' https://{{ host }}:8080 ', 'https://h.example:8080/'],
  ])('tracks %s, whose host is a variable', (href, target) => {
    const content = compileTracked(`<a href="${href}">x</a>`);
    const vars = markTrusted({ host: 'h.example' });
    expect(renderContent(content, vars, urls).html).toBe(`<a href="${CLICK}/0">x</a>`);
    expect(new URL(resolveLink(content.links[0] ?? '', vars) ?? '').href).toBe(target);
    const evil = markUntrusted({ host: 'evil.example' }, ['host']);
    expect(renderContent(content, evil, urls).html).not.toContain('evil.example');
    expect(resolveLink(content.links[0] ?? '', evil) ?? '').not.toContain('evil.example');
  });

  it.each([
    ['{{ base }}/{{ x }}', 'https://h.example/7'],
    ['{{base}}{{ path | default: "/p" }}?id={{x}}', 'https://h.example/p?id=7'],
    ['https://{{ host }}/{{ x }}', 'https://h.example/7'],
    ['https://shop.{{ host }}/?a={{ x }}&amp;b={{ x | plus: 1 }}', 'https://shop.h.example/?a=7&b=8'],
    ['https://{{ sub }}.{{ host }}:8080/#{{ x }}', 'https://s.h.example:8080/#7'],
    [" {{ base | append: '/a' }}/{{ data.x }} ", 'https://h.example/a/7'],
    ['{{ base ?? "https://other.example" }}/{{ x }}', 'https://h.example/7'],
  ])('tracks %s, whose host and path are variables', (href, target) => {
    const content = compileTracked(`<a href='${href}'>x</a>{% if x %}<a href='${href}'>x</a>{% endif %}`);
    const values = { host: 'h.example', base: 'https://h.example', sub: 's', x: '7', data: { x: '7' } };
    const shown = (vars: Parameters<typeof renderContent>[1]) => renderContent(content, vars, urls).html;
    expect(shown(markTrusted(values))).toBe(`<a href='${CLICK}/0'>x</a><a href='${CLICK}/0'>x</a>`);
    expect(resolveLink(content.links[0] ?? '', markTrusted(values))).toBe(target);
    const path = markUntrusted({ ...values, x: 'evil' }, ['x']);
    expect(shown(path)).toContain(CLICK);
    expect(resolveLink(content.links[0] ?? '', path)).not.toContain('evil');
    for (const name of ['host', 'base']) {
      const evil = markUntrusted({ ...values, [name]: name === 'base' ? 'https://evil.example' : 'evil.example' }, [
        name,
      ]);
      if (!href.includes(name)) continue;
      expect(shown(evil)).not.toContain('evil');
      expect(resolveLink(content.links[0] ?? '', evil) ?? '').not.toContain('evil');
    }
  });

  it.each(['{{ unsubscribeUrl }}/{{ x }}', 'mailto:{{ x }}', '/{{ x }}', '{% if x %}{{ x }}{% endif %}/{{ x }}'])(
    'leaves %s as it is',
    (href) => expect(compileTracked(`<a href="${href}">x</a>`).links).toEqual([]),
  );

  it.each([
    ['no host', '', '#'],
    ['another scheme', 'mailto:a@b.example?', 'mailto:a@b.example?/7'],
    ['a script', 'javascript:alert(1)//', '#/7'],
  ])('does not track a composed address with %s', (_, base, href) => {
    const body = base === '' ? 'https://{{ base }}/{{ x }}' : '{{ base }}/{{ x }}';
    const content = compileTracked(`<a href="${body}">x</a>`);
    const vars = markTrusted({ base, x: 7 });
    expect(renderContent(content, vars, urls).html).toBe(`<a href="${href}">x</a>`);
    expect(resolveLink(content.links[0] ?? '', vars)).toBeUndefined();
  });

  it('does not track an address that uses the item of a loop, but tracks other addresses inside blocks', () => {
    const body =
      '{% for p in items %}<a href="https://a.example/{{ p.slug }}">x</a><a href="https://b.example/">y</a>{% endfor %}';
    const content = compileTracked(body);
    expect(content.links).toEqual(['https://b.example/']);
    expect(renderContent(content, markTrusted({ items: [{ slug: 's' }] }), urls).html).toBe(
      `<a href="https://a.example/s">x</a><a href="${CLICK}/0">y</a>`,
    );
  });

  it("tracks links in Outlook's conditional comments, and does not change other comments and scripts", () => {
    const body =
      '<!--[if mso]><v:roundrect href="https://a.example/"></v:roundrect><![endif]--><!-- <a href="https://b.example/"> -->';
    expect(compileTracked(body).links).toEqual(['https://a.example/']);
  });

  it('does not change links when it is off', () => {
    const body = '<a href="https://a.example/">a</a>';
    expect(renderHtml(body)).toBe(body);
  });
});

describe('the text of an HTML body', () => {
  it.each([
    'display:none',
    'DISPLAY : NONE !important',
    'color:red; visibility: hidden',
    'mso-hide :all',
    'font-size:0;max-height: 0px;overflow:hidden',
  ])('omits what %s hides', (style) =>
    expect(htmlToText(`<div style="${style}">hidden</div><p>shown</p>`)).toBe('shown'),
  );

  it('keeps text over an image, whose element has no height', () => {
    expect(htmlToText('<div style="max-height:0;position:relative">shown</div>')).toBe('shown');
  });

  it('omits the template of a script', () => {
    expect(htmlToText('<template><p>hidden</p></template><p>shown</p>')).toBe('shown');
  });
});

describe('the stored link', () => {
  it.each(['ftp://a.example/', 'javascript:alert(1)', 'not a link', 'ftp://{{x}}', 'https:///{{x}}'])(
    '%s leads nowhere',
    (link) => {
      expect(resolveLink(link, markTrusted({ x: 'https://evil.example/' }))).toBeUndefined();
    },
  );

  it("redirects each recipient to the recipient's own address, with any content", () => {
    for (const link of ['https://a.example/?q={{ name }}', 'https://a.example/?q={{ name | upcase | downcase }}']) {
      for (const name of ['ada', 'bob', 'ada'])
        expect(resolveLink(link, markTrusted({ name }))).toBe(`https://a.example/?q=${name}`);
      expect(resolveLink(link, markUntrusted({ name: 'x' }, ['name']))).toBe('https://a.example/?q=');
    }
  });

  it('is returned as written, or in ASCII if necessary', () => {
    expect(resolveLink('https://a.example', markTrusted({}))).toBe('https://a.example');
    expect(resolveLink('https://a.example/é\r\nSet-Cookie: x', markTrusted({}))).toBe(
      'https://a.example/%C3%A9Set-Cookie:%20x',
    );
  });
});

describe('open pixel and footer', () => {
  it('are placed before the end of the body', () => {
    const out = renderHtml('<html><body><p>Hi</p></body></html>', {}, { type: 'MARKETING', trackOpens: true });
    expect(out).toMatch(
      new RegExp(
        `<p>Hi</p><p [^>]*>.*<a href="${UNSUBSCRIBE}"[^>]*>Unsubscribe</a></p><img src="https://mail.example/o/T+\\.gif"[^>]*></body></html>$`,
      ),
    );
  });

  it('are placed at the end if the tag </body> is missing or is inside a block', () => {
    expect(renderHtml('<p>Hi</p>', {}, { trackOpens: true })).toMatch(/^<p>Hi<\/p><img /);
    expect(renderHtml('{% if x %}</body>{% endif %}', {}, { trackOpens: true })).toMatch(/^<img /);
  });

  it.each([
    ['many paragraphs', `<p>${'Hello '.repeat(20)}</p>`.repeat(1_000)],
    ['letters that need nine bytes', `<p>${'漢字'.repeat(6_000)}</p>`],
    ['many links', '<a href="https://a.example/">a</a>'.repeat(1_500)],
    ['a loop', '{% for row in rows %}<p>{{ row }}</p>{% endfor %}'],
    ['a value of HTML', '{{ page | raw }}'],
  ])('the pixel is within the first 90,000 bytes on the wire, which mailbox providers show: %s', (_, body) => {
    const scope = {
      rows: Array.from({ length: 1_000 }, (__, n) => `row ${n} ${'x'.repeat(100)}`),
      page: '<p>x</p>'.repeat(20_000),
    };
    const email = `<html><body class="a">${body}</body></html>`;
    // The time limit of a template is off, because a busy machine may exceed it.
    const out = runWithTimeLimit(() => renderHtml(email, scope, { trackOpens: true, trackClicks: true }), 60_000);
    const at = out.indexOf('/o/');
    expect(at).toBeGreaterThan(0);
    expect(out.indexOf('<body')).toBeLessThan(at);
    expect(encodeQuotedPrintable(out.slice(0, at)).length).toBeLessThan(90_000);
  });

  it('adds the footer to a MARKETING body without the unsubscribe link, and to the text part derived from it', () => {
    const footed = compileContent(createSource('<p>Hi</p>', { type: 'MARKETING' }));
    expect(renderContent(footed, markTrusted({}), urls).text).toBe(`Hi\n\nUnsubscribe: ${UNSUBSCRIBE}`);
    expect(renderHtml('<a href="{{ unsubscribeUrl }}">no</a>', {}, { type: 'MARKETING' })).toBe(
      `<a href="${UNSUBSCRIBE}">no</a>`,
    );
    expect(renderHtml('<p>Hi</p>')).toBe('<p>Hi</p>');
  });

  it('MARKETING email has List-Unsubscribe, like any email whose body contains the unsubscribe link', () => {
    const renderHeaders = (body: string, type: ContentSource['type']) =>
      buildListUnsubscribeHeaders(compileContent(createSource(body, { type })), urls);
    expect(renderHeaders('x', 'TRANSACTIONAL')).toEqual([]);
    const both = [
      ['List-Unsubscribe', `<${UNSUBSCRIBE}>`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ];
    expect(renderHeaders('x', 'MARKETING')).toEqual(both);
    expect(renderHeaders('{% if a %}{{ unsubscribeUrl }}{% endif %}', 'TRANSACTIONAL')).toEqual(both);
  });

  it('data cannot replace the links of the service', () => {
    const evil = {
      unsubscribeUrl: 'https://evil.example',
      __click: ['https://evil.example'],
      __pixel: 'https://evil.example',
    };
    const body = '{% if true %}{{unsubscribeUrl}}{% endif %}{% if true %}<a href="https://a.example/">x</a>{% endif %}';
    expect(renderHtml(body, evil, { trackClicks: true, trackOpens: true })).not.toContain('evil');
  });
});

describe('values in addresses', () => {
  it.each([
    ['https://a.example/?a=1&b=2', 'https://a.example/?a=1&amp;b=2'],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['tel:+32', 'tel:+32'],
    ['javascript:alert(1)', '#'],
    [' data:text/html,x', '#'],
    ['/path', '#'],
    ['', '#'],
  ])('an href that starts with %j links to %s', (url, expected) => {
    expect(renderHtml('<a href="{{url}}">x</a>', { url })).toBe(`<a href="${expected}">x</a>`);
    expect(renderHtml('<a href="{% if true %}{{ url | raw }}{% endif %}">x</a>', { url })).toBe(
      `<a href="${expected}">x</a>`,
    );
    expect(renderHtml('{% assign u = url %}<a href="{{u}}">x</a>', { url })).toBe(`<a href="${expected}">x</a>`);
  });

  it('the address of an image is empty unless it starts with http:, https: or cid:', () => {
    expect(renderHtml('<img src="{{a}}"><img src="{{b}}">', { a: 'cid:logo', b: 'javascript:x' })).toBe(
      '<img src="cid:logo"><img src="">',
    );
  });

  it('values after a literal host are only escaped', () => {
    expect(renderHtml('<a href="https://a.example/{{x}}">x</a>', { x: '"><b>' })).toBe(
      '<a href="https://a.example/&#34;&gt;&lt;b&gt;">x</a>',
    );
  });

  it('an attribute without quotes gets quotes around its address', () => {
    expect(renderHtml('<a href=https://a.example/{{x}}>x</a>', { x: 'a onclick=b' })).toBe(
      '<a href="https://a.example/a onclick=b">x</a>',
    );
  });
});

describe('the text part', () => {
  const renderText = (body: string, vars = {}, more: Partial<ContentSource> = {}) =>
    renderContent(compileContent(createSource(body, more)), markTrusted(vars), urls).text;

  it('is derived from the HTML, with unchanged values and the targets of links', () => {
    const body =
      '<style>p{}</style><h1>Hello {{name}}</h1><p>See <a href="https://a.example/?a&amp;b={{id}}">our shop</a> &amp; more</p><img src="x.png" alt="Logo">';
    expect(renderText(body, { name: 'Tom & Zoë', id: 5 }, { trackClicks: true })).toBe(
      'Hello Tom & Zoë\n\nSee our shop <https://a.example/?a&b=5> & more\n\nLogo',
    );
  });

  it('keeps Liquid blocks without empty paragraphs for them', () => {
    const body =
      '<p>Hi</p>\n{% if vip %}\n<p>VIP</p>\n{% endif %}\n<ul>{% for i in items %}<li>{{i}}</li>{% endfor %}</ul><p>Bye</p>';
    expect(renderText(body, { vip: true, items: ['a', 'b'] })).toBe('Hi\n\nVIP\n * a\n * b\n\nBye');
    expect(renderText(body, { items: [] })).toMatch(/^Hi\s+Bye$/);
  });

  it("is the author's text part if the author wrote one", () => {
    expect(renderText('<p>x</p>', { a: '<' }, { text: 'Own {{a}} {{ b ?? "fallback words" }}' })).toBe(
      'Own < fallback words',
    );
    expect(renderText('<p>x</p>', {}, { text: 'Own', type: 'MARKETING' })).toBe(`Own\n\nUnsubscribe: ${UNSUBSCRIBE}`);
  });

  it('is derived from the rendered HTML if Liquid blocks and HTML tags overlap', () => {
    const body = '<p {% if a %}>x</p><p{% endif %}>y</p>';
    expect(renderText(body, { a: true })).toMatch(/x\s+y/);
    expect(renderText(body, {})).toBe('y');
  });

  it.each([
    ['{{ html | raw }}', 'One\n\nTwo'],
    ['<p>{{ html | strip | raw }}</p>', 'One\n\nTwo'],
    ['{{ lines | newline_to_br }}', 'a\nb'],
    ['<table>{% tablerow i in items cols:1 %}{{ i }}{% endtablerow %}</table>', '1\n2'],
    ['<p>{% if a %}{{ html | raw }}{% endif %}</p>', ''],
  ])('shows no tags that Liquid writes: %s', (body, expected) => {
    expect(renderText(body, { html: '<p>One</p><p>Two</p>', lines: 'a\nb', items: [1, 2] })).toBe(expected);
  });

  it('keeps the address of a link with a raw variable', () => {
    const body = '<a href="https://a.example/?q={{ q | raw }}">a</a>';
    expect(renderText(body, { q: 'x' }, { trackClicks: true })).toBe('a <https://a.example/?q=x>');
  });

  it.each([
    ['<p>Write &#123;&#123; name }} &#123;% if %}', 'Write {{ name }} {% if %}'],
    ['<p>&lcub;{{ name }}}', '{Ada}'],
    ['<b>{</b>{ name }}', '{{ name }}'],
    ['{<i>%</i> if %}', '{% if %}'],
  ])('shows braces that are text in the HTML: %s', (body, expected) => {
    expect(renderText(body, { name: 'Ada' })).toBe(expected);
  });

  it('has the address of a link without the spaces and line breaks that browsers ignore', () => {
    expect(renderText('<a href=" https://a.example/\n?a=1 ">a</a>')).toBe('a <https://a.example/?a=1>');
  });
});

describe('compiling', () => {
  it('lists the contact data that the templates need', () => {
    const listNames = (body: string, subject = '') => compileContent(createSource(body, { subject })).variables;
    expect(
      listNames('{{a}} {{data.b.c}} {{id}} {{email}} {% if d %}{{unsubscribeUrl}}{% endif %}', '{{e ?? f}}'),
    ).toEqual(['a', 'b', 'd', 'e']);
    expect(listNames('{{ data[x] }}')).toBe('*');
    expect(listNames('{% for k in data %}{{k}}{% endfor %}')).toBe('*');
  });

  it.each([
    ['subject', { subject: '{{ x', body: 'x' }],
    ['body', { subject: 'x', body: '{% nope %}' }],
    ['text', { subject: 'x', body: 'x', text: '{{ | }}' }],
  ])('reports that the error is in the %s', (field, parts) => {
    try {
      compileContent(createSource(parts.body, parts));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(TemplateError);
      expect(error).toMatchObject({ field, reason: 'template_error' });
    }
  });

  it('puts the subject on one line', () => {
    const content = compileContent(createSource('x', { subject: 'Hi {{name}}' }));
    expect(renderContent(content, markTrusted({ name: 'Ada\r\nBcc: x' }), urls).subject).toBe('Hi Ada Bcc: x');
  });
});

describe('the preheader', () => {
  const renderWithPreheader = (preheader: string, body: string, vars = {}) =>
    renderContent(compileContent(createSource(body, { preheader })), markTrusted(vars), urls);

  it('is hidden text at the start of the HTML, and not in the text part', () => {
    const { html: shown, text } = renderWithPreheader(
      'For {{name}}: 3 < 5 & more',
      '<!doctype html><html><head><title>t</title></head><body class="{{c}}"><p>Hello</p></body></html>',
      { name: '<b>Ada</b>', c: 'x' },
    );
    expect(shown).toMatch(
      /<body class="x"><div style="display:none[^"]*">For &lt;b&gt;Ada&lt;\/b&gt;: 3 &#60; 5 &#38; more&#847;[^<]*<\/div><p>Hello<\/p>/,
    );
    expect(text).not.toContain('more');
  });

  it('is also missing in a text part that is derived from the rendered HTML', () => {
    const { html: shown, text } = renderWithPreheader('Soon', '<title>{% if a %}</title><p>k</p>{% endif %}', { a: 1 });
    expect([shown.includes('Soon'), text]).toEqual([true, 'k']);
  });

  it.each([
    ['<p>a</p>', /^<div style="display:none/],
    ['<!DOCTYPE html><p>a</p>', /^<!DOCTYPE html><div style="display:none/],
    ['<html><head></head><p>a</p></html>', /^<html><head><\/head><div style="display:none/],
    ['{% if a %}<body>{% endif %}<p>a</p>', /^<div style="display:none/],
  ])('is at the right position in %s', (body, expected) => {
    expect(renderWithPreheader('Soon', body).html).toMatch(expected);
  });

  it('changes nothing if it is missing, and its errors name the field preheader', () => {
    expect(renderHtml('<p>a</p>', {}, { preheader: null })).toBe('<p>a</p>');
    expect(() => compileContent(createSource('<p>a</p>', { preheader: '{% if %}' }))).toThrow(
      expect.objectContaining({ field: 'preheader' }),
    );
  });

  it('does not make an untrusted value trusted', () => {
    const content = compileContent(createSource('<a href="{{x}}">a</a>', { preheader: '{% assign x = stranger %}' }));
    const shown = renderContent(content, markUntrusted({ stranger: 'https://evil.example' }, ['stranger']), urls).html;
    expect(shown).not.toContain('evil.example');
  });
});
