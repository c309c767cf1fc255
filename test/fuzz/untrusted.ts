import fc from 'fast-check';

/** Parts of untrusted input: words of the parsed formats, and text that confuses parsers. */
const STUMBLES = [
  ' ',
  '\t',
  '\r\n',
  '\n',
  '\0',
  '"',
  "'",
  '<',
  '>',
  '(',
  ')',
  '\\',
  ';',
  ':',
  ',',
  '=',
  '--',
  '@',
  '%',
  '+',
  '.',
];
const SURROGATES = ['\ud800', '\udc00', '😀', '\u202e', '\ufeff', 'ß', 'é'];

/** Generates strings of words, of runs of one word, and of one word nested in itself, up to several kB. */
export function generateText(words: readonly string[], max = 3_000): fc.Arbitrary<string> {
  const word = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...words) },
    { weight: 3, arbitrary: fc.constantFrom(...STUMBLES) },
    { weight: 1, arbitrary: fc.constantFrom(...SURROGATES) },
  );
  const run = fc.tuple(word, fc.integer({ min: 1, max })).map(([text, n]) => text.repeat(Math.ceil(n / text.length)));
  const part = fc.oneof({ weight: 5, arbitrary: word }, { weight: 1, arbitrary: run });
  return fc.array(part, { maxLength: 40 }).map((parts) => parts.join('').slice(0, 8 * max));
}

const HEADERS = [
  'From: ',
  'To: ',
  'Subject: =?utf-8?q?',
  'Content-Type: multipart/mixed; boundary="b',
  'Content-Type: text/html; charset=',
];
HEADERS.push(
  'Content-Transfer-Encoding: base64',
  'Content-Transfer-Encoding: quoted-printable',
  'Content-Disposition: attachment; filename*0*=',
);
HEADERS.push(
  'Return-Path: <',
  'Auto-Submitted: auto-replied',
  'DKIM-Signature: v=1; ',
  'Received: from ',
  'Date: ',
  'Message-ID: <a@b>',
);
const BODIES = [
  '--b',
  '--b--',
  '\r\n--b\r\n',
  '\r\n\r\n',
  '=3D',
  '=',
  'YWJj',
  '<div>',
  '550 5.1.1 no such user',
  'message/rfc822',
  'multipart/report',
];

/** Generates emails: any mixture of headers and bodies, very many copies of one header, nested parts. */
export const email: fc.Arbitrary<string> = fc.oneof(
  generateText([...HEADERS, ...BODIES, '\r\n']),
  fc
    .tuple(fc.constantFrom(...HEADERS), fc.integer({ min: 1, max: 2_000 }))
    .map(([line, n]) => `${`${line}x\r\n`.repeat(n)}\r\n.`),
  fc.integer({ min: 1, max: 200 }).map((depth) => createNestedMessage(depth)),
);

function createNestedMessage(depth: number): string {
  const open = (n: number) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`;
  return `${Array.from({ length: depth }, (_, n) => open(n)).join('')}Content-Type: text/plain\r\n\r\nend`;
}

/** An inbound email and the DNS of all names in it: each has one of these records. */
export interface EmailWithDns {
  raw: string;
  from: string;
  helo: string;
  ip: string;
  records: string[];
}

const SIGNATURES = [
  'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=a.example; s=s; h=from:to:from; bh=',
  'DKIM-Signature: v=1; a=ed25519-sha256; c=simple/simple; d=b.example; s=t; l=1; h=from; bh=',
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=',
  'YWJj',
  '\r\nFrom: ',
  'ada@a.example',
  '\r\n\r\n',
  '\r\n\t',
];
const RECORDS = [
  'v=spf1 ',
  'include:%{i}.a.example ',
  'include:a.example ',
  'redirect=b.example ',
  'a:%{d2r}.b.example/0 ',
  'mx ',
  'ptr ',
  'exists:%{l}.%{h}.c.example ',
  'ip4:192.0.2.1/99 ',
  '-all',
  'v=DKIM1; k=rsa; p=',
  'MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMk',
  'k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  'v=DMARC1; p=reject; ',
  'sp=none; pct=999; ',
];

/** Generates emails that claim a sender, with a DNS that the attacker controls as well. */
export const emailWithDns: fc.Arbitrary<EmailWithDns> = fc.record({
  raw: fc.oneof(generateText([...SIGNATURES, ...HEADERS]), email),
  from: fc.oneof(fc.constantFrom('ada@a.example', 'bob@b.example', ''), generateText(['a@b', '@'], 100)),
  helo: fc.oneof(fc.constantFrom('a.example', '[192.0.2.1]'), generateText(['a.', '.'], 100)),
  ip: fc.constantFrom('192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1'),
  records: fc.array(generateText(RECORDS, 1_000), { minLength: 1, maxLength: 6 }),
});

/** Generates reports in the form of RFC 3464 and RFC 5965 with incomplete fields. */
export const report: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('message/delivery-status', 'message/feedback-report'),
    generateText([
      'Action: failed',
      'Status: 5.1.1',
      'Final-Recipient: rfc822;',
      'Original-Recipient: rfc822;',
      'Diagnostic-Code: smtp; 550-5.1.1 ',
    ]),
    generateText([
      'Feedback-Type: abuse',
      'Original-Mail-From: <',
      'Return-Path: <',
      'List-Unsubscribe: <https://',
      '\r\n\r\n',
    ]),
  )
  .map(([type, fields, quoted]) =>
    [
      'Content-Type: multipart/report; boundary=b',
      '',
      '--b',
      `Content-Type: ${type}`,
      '',
      fields,
      '--b',
      'Content-Type: message/rfc822',
      '',
      quoted,
      '--b--',
    ].join('\r\n'),
  );

export const csv: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('email', 'email,plan', 'email;a;b', '"email","a"', '', 'email\ta'),
    generateText(['a@b.example', '"a', 'a"', '""', ',', '\n', '"\n', ',"\n', 'x","y\n']),
  )
  .map(([header, rows]) => `${header}\n${rows}`);

export const liquid: fc.Arbitrary<string> = generateText(
  [
    '{{',
    '}}',
    '{%',
    '%}',
    '{%-',
    '-%}',
    ' if a',
    ' endif ',
    ' for x in (1..9)',
    ' endfor ',
    ' | default: "',
    ' | replace: "a", "',
    '??',
    'a.b',
    '[',
    ']',
    ' raw ',
    ' endraw ',
  ],
  500,
);

/** Generates JSON that may be a condition: complete, truncated, deeply nested. */
export const condition: fc.Arbitrary<unknown> = fc.oneof(
  fc.letrec((tie) => ({
    condition: fc.record(
      {
        logic: fc.constantFrom('AND', 'OR', 'XOR', null),
        groups: fc.array(tie('group'), { maxLength: 3 }),
        conditions: tie('any'),
      },
      { requiredKeys: ['logic'] },
    ),
    group: fc.record(
      { filters: fc.array(tie('filter'), { maxLength: 3 }), conditions: tie('any') },
      { requiredKeys: [] },
    ),
    filter: fc.record(
      {
        field: fc.oneof(
          fc.constantFrom('email', 'data.a', 'event.a', 'segment.', 'data.__proto__', 'createdAt'),
          fc.string(),
        ),
        operator: fc.constantFrom('equals', 'contains', 'in', 'within', 'exists', 'greaterThan', 'nope'),
        value: fc.oneof(fc.jsonValue(), fc.constantFrom('%', '_', '\\', '\0', '9'.repeat(400), -0, 1e308)),
        unit: fc.constantFrom('days', 'years', 1),
      },
      { requiredKeys: [] },
    ),
    any: fc.oneof({ maxDepth: 6 }, fc.jsonValue(), tie('condition')),
  })).condition,
  fc.jsonValue({ maxDepth: 8 }),
  fc.integer({ min: 1, max: 500 }).map((depth) => {
    let deep: unknown = { filters: [] };
    for (let n = 0; n < depth; n += 1) deep = { logic: 'AND', groups: [{ filters: [], conditions: deep }] };
    return deep;
  }),
);

export const address: fc.Arbitrary<string> = generateText(['bounce+', '0123456789abcdef', 'a@b', '@', 'BOUNCE+'], 200);

/** Generates lines that an SMTP client may send. */
export const smtp: fc.Arbitrary<string[]> = fc.array(
  fc.oneof(
    fc.constantFrom(
      'EHLO a',
      'HELO',
      'MAIL FROM:<>',
      'MAIL FROM:<a@b> SIZE=9999999999999',
      'RCPT TO:<a@shop.example.com>',
      'RCPT TO:<',
      'DATA',
      '.',
      'RSET',
      'NOOP',
      'VRFY root',
      'AUTH PLAIN',
      'AUTH LOGIN',
      'AUTH PLAIN =',
      'BDAT 5',
      'STARTTLS',
      'HELP',
    ),
    generateText(['MAIL FROM:', 'RCPT TO:', '<', '>', 'a@b', 'BODY=', 'AUTH '], 500).map((line) =>
      line.replace(/[\r\n]/g, ' '),
    ),
  ),
  { maxLength: 12 },
);
