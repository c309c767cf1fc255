import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markUntrusted } from '../provenance/provenance.ts';
import { type ContentSource, compileContent, renderContent, renderSubjectOf, resolveLink } from './content.ts';

const urls = { baseUrl: 'https://mail.example', track: 'T'.repeat(43), manage: 'M'.repeat(43) };

function renderToStrings(parts: Partial<ContentSource>, vars: Record<string, unknown>, untrusted: string[]) {
  const source = { subject: 'Hi', body: '', type: 'TRANSACTIONAL' as const, trackOpens: false, trackClicks: false };
  return renderContent(compileContent({ ...source, ...parts }), markUntrusted(vars, untrusted), urls);
}

const renderHtml = (body: string, vars: Record<string, unknown>, untrusted: string[]) =>
  renderToStrings({ body }, vars, untrusted).html;

describe('untrusted data', () => {
  const evil = { name: '<b>Ada</b>', url: 'https://evil.example/', nick: 'Ada' };
  const all = Object.keys(evil);

  it('is shown as text, never as markup', () => {
    expect(renderHtml('{{name}} {{name | raw}} {{ data.name | raw }}', { ...evil, data: evil }, all)).toBe(
      '&lt;b&gt;Ada&lt;/b&gt; &lt;b&gt;Ada&lt;/b&gt; &lt;b&gt;Ada&lt;/b&gt;',
    );
    expect(renderHtml('{% assign n = name %}{{ n | raw }}', evil, all)).toBe('&lt;b&gt;Ada&lt;/b&gt;');
    expect(renderHtml('{{name | raw}}', evil, ['url'])).toBe('<b>Ada</b>');
  });

  it.each([
    ['<a href="{{url}}">x</a>', '<a href="#">x</a>'],
    ['<a href="https://a.example/{{nick}}">x</a>', '<a href="https://a.example/">x</a>'],
    ['<a href="{{ url | append: "x" }}">x</a>', '<a href="#">x</a>'],
    ['<img src="{{url}}">', '<img src="">'],
    ['<p style="background:url({{url}})">', '<p style="background:url()">'],
    ['<style>p { color: {{nick}} }</style>', '<style>p { color:  }</style>'],
    ['<p {{nick}}>', '<p >'],
    ['<!--[if mso]><a href="{{url}}">x</a><![endif]-->', '<!--[if mso]><a href="#">x</a><![endif]-->'],
    ['{% assign u = url %}<a href="{{u}}">x</a>', '<a href="#">x</a>'],
    ['{% for u in list %}<a href="{{u}}">x</a>{% endfor %}', '<a href="#">x</a>'],
    ['{% capture c %}x{{ url }}{% endcapture %}{% assign d = c | strip %}<a href="{{d}}">x</a>', '<a href="#">x</a>'],
    ['{% for i in (1..2) %}<a href="{{ u }}">x</a>{% assign u = url %}{% endfor %}', '<a href="#">x</a>'.repeat(2)],
    ['<p title="{{nick}}">{{nick}}</p>', '<p title="Ada">Ada</p>'],
  ])('with untrusted data, %s renders %s', (body, expected) => {
    expect(renderHtml(body, { ...evil, list: ['https://evil.example'] }, [...all, 'list'])).toBe(expected);
  });

  it('does not change outputs of other variables', () => {
    const body =
      '{% for i in list %}<a href="https://a.example/{{ i }}/{{ forloop.index }}">{{ i }}</a>{% endfor %}{{ nick }}';
    const vars = { list: ['shop.example'], nick: 'Ada' };
    const whole = '<a href="https://a.example/shop.example/1">shop.example</a>Ada';
    expect(renderHtml(body, vars, ['other'])).toBe(whole);
    expect(renderHtml(body, vars, ['nick'])).toBe(whole);
    expect(renderHtml(body, vars, ['list'])).toBe('<a href="https://a.example//1"></a>Ada');
  });

  it('is not part of a link that was stored for tracking', () => {
    expect(
      resolveLink('https://a.example/{{nick}}?p={{plan}}', markUntrusted({ nick: 'x', plan: 'pro' }, ['nick'])),
    ).toBe('https://a.example/?p=pro');
  });

  it('is not an address in the text part', () => {
    expect(renderToStrings({ body: '<a href="{{url}}">Shop</a>' }, evil, all).text).not.toContain('evil');
  });
});

describe('an untrusted link in text', () => {
  const vars = {
    text: 'Log in at https://evil.example/login now',
    left: 'evil.',
    right: 'example/login',
    tagged: 'evil<i>.example',
    encoded: 'evil%2Eexample',
    list: ['https://', 'evil', '.example'],
    event: { note: 'evil.example', deep: [{ x: 'evil.example' }] },
  };
  const names = Object.keys(vars);

  it.each([
    ['{{text}}', 'Log in at now'],
    ['{{ text | upcase }}', 'LOG IN AT NOW'],
    ['{{ text | escape }}|{{ text | newline_to_br }}', 'Log in at now|Log in at now'],
    ['{{left}}{{right}}', 'evilexample login'],
    ['{{left}}<b>{{right}}</b>', 'evil<b>example login</b>'],
    ['<p>{{left}}</p><p>{{right}}</p>', '<p>evil.</p><p>example/login</p>'],
    ['{{ left | append: right }}', ''],
    ['{{ tagged | strip_html }}', ''],
    ['{{ encoded | url_decode }}', ''],
    ['{% assign a = encoded | url_decode %}{{ a }}', ''],
    ['{% capture a %}{{ left }} {{ right }}{% endcapture %}{{ a | remove: " " }}', 'evilexamplelogin'],
    ['{{list}}', '[&#34;&#34;,&#34;evil&#34;,&#34;.example&#34;]'],
    ['{{ list | join: "" }}', ''],
    ['{% for i in list %}{{ i }}{% endfor %}', 'evilexample'],
    ['{{event.note}}{{ event.deep[0].x }}{% for i in event.deep %}{{ i.x }}{% endfor %}', ''],
    ['{{ event | json | raw }}', /^[^.]*$/],
    ['{{ event.note ?? friend }} {{ event.none ?? friend }}', 'friend friend'],
  ])('is removed: %s shows %s', (body, expected) => {
    const shown = renderHtml(body, { ...vars, data: vars }, names);
    if (typeof expected === 'string') expect(shown).toBe(expected);
    else expect(shown).toMatch(expected);
    expect(renderToStrings({ text: body, body: 'x' }, vars, names).text).not.toMatch(/evil\.ex|https/);
    expect(renderToStrings({ subject: body }, vars, names).subject).not.toMatch(/evil\.ex|https/);
  });

  it('is removed from a subject', () => {
    const subject = 'News for {{text}}{{ text | upcase }}{% if text %}{{ data.text }}{% endif %}';
    expect(renderToStrings({ subject }, { ...vars, data: vars }, names).subject).toBe('News for');
    expect(renderSubjectOf('{{text}}!', markUntrusted(vars, names))).toEqual({ value: '!', untrusted: true });
    expect(renderSubjectOf('{{plan}}!', markUntrusted({ ...vars, plan: 'pro.example' }, names))).toEqual({
      value: 'pro.example!',
      untrusted: false,
    });
  });

  it('is kept if the tenant wrote it', () => {
    expect(renderHtml('{{text}}', vars, ['left'])).toBe(vars.text);
    expect(renderHtml('shop.example {{ left }} https://shop.example/', vars, names)).toBe(
      'shop.example evil. https://shop.example/',
    );
  });

  it('never appears in an email, whatever the template is', () => {
    const piece = fc.constantFrom(
      ...[
        '{{left}}',
        '{{right}}',
        '{{ text | truncate: 30 }}',
        '{{ list }}',
        '{{ event.note }}',
        '{{ tagged | strip_html }}',
      ],
      ...[
        '{% for i in list %}{{ i }}{% endfor %}',
        '{% assign a = left | append: right %}',
        '{{ a }}',
        '{{ a | raw }}',
      ],
      ...[
        '{% if left %}{{left}}{% endif %}',
        '{% capture c %}{{left}}{{right}}{% endcapture %}',
        '{{ c | strip }}',
        ' ',
        '<b>',
        '</b>',
        '<br>',
      ],
      ...['{{ encoded | url_decode | raw }}', '{{- right -}}', '{{ left | append: "" | escape }}'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const body = pieces.join('');
        const shown = renderToStrings({ body, subject: body, text: body }, { ...vars, data: vars }, names);
        expect(shown.html.replace(/<\/?b>/g, '')).not.toMatch(/evil\.\w|https/);
        expect(`${shown.subject}|${shown.text}`).not.toMatch(/evil\.\w|https/);
      }),
      { numRuns: 300 },
    );
  }, 120_000);
});
