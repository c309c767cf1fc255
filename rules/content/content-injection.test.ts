import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { markTrusted, markUntrusted } from '../provenance/provenance.ts';
import { compileContent, renderContent } from './content.ts';

const urls = { baseUrl: 'https://mail.example', track: 'T'.repeat(43), manage: 'M'.repeat(43) };

const hostile = fc.oneof(
  fc.constantFrom(
    'javascript:alert(1)',
    ' \tjavascript:alert(1)',
    'JAVASCRIPT:x',
    'data:text/html,<script>x</script>',
    '"><script>x</script>',
    "' onmouseover='x",
    'x onmouseover=x',
    '</a><b>',
    '-->',
    '<!--',
    '</style><b>',
    '&quot;><b>',
    '{{ url }}{% raw %}',
    '\u0000',
    'https://ok.example/"x',
    'vbscript:x',
  ),
  fc.string({
    unit: fc.constantFrom('<', '>', '"', "'", '&', '=', ' ', '/', 'a', ':', '`', '{', '%', '-', '!'),
    maxLength: 30,
  }),
);

const fragment = fc.constantFrom(
  '<p>{{v}}</p>',
  '<p title="{{v}}" class=\'{{w}}\'>x</p>',
  '<p title={{v}}>x</p>',
  '<a href="{{v}}">x</a>',
  "<a href='{{v}}/{{w}}'>x</a>",
  '<a href={{v}}>x</a>',
  '<a href=https://a.example/{{v}}>x</a>',
  '<a href="https://a.example/{{v}}?{{w}}">x</a>',
  '<a href="{% if v %}{{v}}{% endif %}{{w}}">x</a>',
  '<a href="{% if no %}https://a.example/{% endif %}{{v}}">x</a>',
  '{% assign q = v %}<a href="{{q}}">{{q}}</a>',
  '{% for i in list %}<a href="{{i}}">{{i}}</a>{% endfor %}',
  '<img src="{{v}}" alt="{{w}}">',
  '<a href="{{v | raw}}">x</a>',
  '<a href="{{ v | default: w }}">x</a>',
  '<a href="{{ no ?? https://a.example/ }}">x</a>',
  '<td background="{{v}}">{{ v | upcase }}</td>',
  '{{ v | newline_to_br }}',
);

interface Shape {
  elements: string[];
  addresses: string[];
}

function readShape(html: string): Shape {
  const shape: Shape = { elements: [], addresses: [] };
  const parser = new Parser({
    onopentag(name, attributes) {
      shape.elements.push(`${name} ${Object.keys(attributes).join(' ')}`);
      for (const name of ['href', 'src', 'background'])
        if (name in attributes) shape.addresses.push(attributes[name] ?? '');
    },
    oncomment: () => shape.elements.push('comment'),
  });
  parser.end(html);
  return shape;
}

describe('hostile contact data', () => {
  it('never becomes markup, and links only to http(s), mailto and tel addresses and to anchors in the email', () => {
    fc.assert(
      fc.property(
        fc.array(fragment, { minLength: 1, maxLength: 4 }),
        hostile,
        hostile,
        fc.boolean(),
        (parts, v, w, trackClicks) => {
          const body = parts.join('\n');
          const content = compileContent({ subject: 'x', body, type: 'TRANSACTIONAL', trackOpens: false, trackClicks });
          const shape = readShape(renderContent(content, markTrusted({ v, w, list: [v, w] }), urls).html);
          const benign = readShape(
            renderContent(content, markTrusted({ v: 'x', w: 'y', list: ['x', 'y'] }), urls).html,
          );
          expect(shape.elements.filter((name) => name !== 'br ')).toEqual(
            benign.elements.filter((name) => name !== 'br '),
          );
          for (const address of shape.addresses) expect(address).toMatch(/^\s*(https?:|mailto:|tel:|cid:|#|$)/i);
        },
      ),
      { numRuns: 300 },
    );
  }, 30_000);

  it('is not in link addresses if the public key wrote it', () => {
    fc.assert(
      fc.property(fc.array(fragment, { minLength: 1, maxLength: 4 }), fc.boolean(), (parts, trackClicks) => {
        const content = compileContent({
          subject: 'x',
          body: parts.join('\n'),
          type: 'TRANSACTIONAL',
          trackOpens: false,
          trackClicks,
        });
        const vars = { v: 'https://evil.example/', w: 'evil', list: ['https://evil.example/'] };
        const { html } = renderContent(content, markUntrusted(vars, ['v', 'w', 'list']), urls);
        for (const address of readShape(html).addresses) expect(address).not.toContain('evil');
      }),
      { numRuns: 100 },
    );
  }, 30_000);
});
