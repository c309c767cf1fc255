import { parseArgs } from 'node:util';
import { type ContentSource, compileContent, compileWhole, renderMime } from '../rules/content/content.ts';
import { type PreparedContent, prepareContent } from '../rules/content/content-prepare.ts';
import { buildContactUrls, createLinkTokens, createMessageId } from '../rules/content/link-tokens.ts';
import { type LiquidScope, parseWholeTemplate, renderNodes } from '../rules/content/liquid.ts';
import { buildVariables } from '../rules/content/variables.ts';
import { markTrusted, type Sourced } from '../rules/provenance/provenance.ts';

/**
 * Measures the cost of composing one message with 5 kB of HTML, 18 variables, two tracked links, a tracking pixel, an
 * unsubscribe link and a text part. Compares three ways: the template library parses the template for each email, the
 * library parses it once, and the service's prepared templates.
 */
const { values: options } = parseArgs({
  options: { messages: { type: 'string', default: '20000' }, rounds: { type: 'string', default: '8' } },
});
const MESSAGES = Number(options.messages);
const ROUNDS = Number(options.rounds);

const SECRET = 'bench';
const BASE_URL = 'https://mail.example.com';
const DATE = new Date();
const FROM = { name: 'The Shop', email: 'news@shop.example' };

const PARAGRAPH =
  '<tr><td style="padding:8px 24px;font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:21px;color:#1f2937">' +
  'Hello {{firstName}}, thank you for your {{order}} in {{city}}. It leaves our house in the next days, and we tell you ' +
  'as soon as it is on its way to you.</td></tr>\n';
const LINKS =
  '<a href="https://shop.example/orders?ref=mail">Your orders</a> <a href="https://shop.example/news">All news</a> ' +
  '<a href="{{unsubscribeUrl}}">Unsubscribe</a>';
const BLOCKS =
  '{% if vip %}<p>Free shipping, {{firstName}}.</p>{% endif %}{% for item in items %}<li>{{ item }}</li>{% endfor %}';

const page = (inner: string) => `<html><body><table width="100%">\n${inner}</table>${LINKS}</body></html>`;
const content = (body: string): ContentSource => ({
  subject: 'News for {{firstName}} in {{city}}',
  body,
  type: 'MARKETING',
  trackOpens: true,
  trackClicks: true,
});
const plain = content(
  page(`${PARAGRAPH.repeat(5)}<tr><td style="${'padding:0;'.repeat(260)}">{{firstName}}</td></tr>`),
);
const mixed = content(page(`${PARAGRAPH.repeat(5)}<tr><td style="${'padding:0;'.repeat(250)}">${BLOCKS}</td></tr>`));

interface Row {
  'one whole message': string;
  'CPU µs': number;
  'messages/s': number;
}

console.table([
  measureRow('liquid, three templates parsed each time (not encoded)', createParsingRenderer(prepareContent(plain))),
  measureRow('liquid, parsed once, encoded whole', createComposer(compileWhole(plain))),
  measureRow('pieces and holes', createComposer(compileContent(plain))),
  measureRow('with an if and a for: all of it through liquid', createComposer(compileWhole(mixed))),
  measureRow(
    'with an if and a for: these two nodes through liquid',
    createComposer({ ...compileContent(mixed), costly: false }),
  ),
  measureRow('the same within the outer time bound, as it is sent', createComposer(compileContent(mixed))),
]);
console.log(`one message is ${createComposer(compileContent(plain))(1).length} bytes on the wire`);

/**
 * Measures the CPU time of all threads for one message. Takes the best of several rounds, because other work on the
 * machine can only make a round slower.
 */
function measureRow(name: string, make: (n: number) => string): Row {
  let best = Number.POSITIVE_INFINITY;
  const count = Math.max(100, Math.round(MESSAGES / 10));
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage();
    for (let n = 0; n < count; n++) make(n);
    const used = process.cpuUsage(start);
    best = Math.min(best, (used.user + used.system) / count);
  }
  return { 'one whole message': name, 'CPU µs': Number(best.toFixed(1)), 'messages/s': Math.round(1e6 / best) };
}

function createComposer(compiled: ReturnType<typeof compileContent>): (n: number) => string {
  return (n) => {
    const id = createEmailId(n);
    const to = { email: `contact${n}@example.com` };
    const headers = { from: FROM, to, date: DATE, messageId: createMessageId(id, 'shop.example') };
    return renderMime(compiled, {
      headers,
      vars: buildEmailVariables(n),
      urls: { baseUrl: BASE_URL, ...createLinkTokens(SECRET, id) },
    });
  };
}

function createParsingRenderer(prepared: PreparedContent): (n: number) => string {
  return (n) => {
    const scope = {
      ...buildEmailVariables(n).values,
      ...buildContactUrls(BASE_URL, createLinkTokens(SECRET, createEmailId(n)).manage),
      __click: ['a', 'b'],
    };
    return (
      parseAndRender(prepared.subject, 'plain', scope) +
      parseAndRender(prepared.text ?? '', 'plain', scope) +
      parseAndRender(prepared.html, 'html', scope)
    );
  };
}

function parseAndRender(source: string, escaping: 'plain' | 'html', scope: LiquidScope): string {
  return renderNodes(parseWholeTemplate(source, escaping), escaping, scope);
}

function buildEmailVariables(n: number): Sourced<LiquidScope> {
  const data = {
    firstName: n % 10 === 0 ? 'Zoë' : 'Ada',
    city: 'Gent',
    order: `order ${n}`,
    vip: n % 2 === 0,
    items: ['a', 'b', 'c'],
  };
  return buildVariables({
    contact: { id: createEmailId(n), email: `contact${n}@example.com`, data: markTrusted(data) },
    zone: 'UTC',
  });
}

function createEmailId(n: number): string {
  return `0199a6f0-1234-7abc-8def-${n.toString(16).padStart(12, '0')}`;
}
