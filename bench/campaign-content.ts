/** The subject of the newsletter that the campaign benches send. */
export const SUBJECT = '{{firstName}}, the news of November for {{city}}';

const STYLE = 'margin:0 0 16px;font-family:sans-serif;font-size:15px;line-height:24px;color:#1f2937';
const WORDS =
  'There is a lot to tell this month, and all of it is below: what is new, what has become faster, and what we have learned from those ' +
  'who wrote to us. Thank you for reading on, and for every line that you send us in return.';
const plain = `<p style="${STYLE}">${WORDS}</p>`;
const personal =
  `<p style="${STYLE}">Dear {{firstName}} {{lastName}}, as a customer of {{company}} in {{city}} on the {{plan}} plan you have ` +
  `{{points}} points. ${WORDS}</p>`;

/** Returns the newsletter with this many kilobytes of HTML, at least 5. */
export function createNewsletterBody(kilobytes: number): string {
  const missing = Math.max(0, kilobytes * 1_000 - BODY.length);
  return BODY.replace('</h1>', `</h1>${plain.repeat(Math.round(missing / plain.length))}`);
}

/** The newsletter: 5 kB of HTML with 18 variables, two tracked links and an unsubscribe link. */
export const BODY =
  '<!doctype html><html><head><meta charset="utf-8"><title>News</title></head><body style="margin:0;background:#f3f4f6">' +
  '<table role="presentation" width="100%"><tr><td align="center"><table role="presentation" width="600"><tr><td>' +
  `<h1 style="font-family:sans-serif">Hello {{firstName}}</h1>${personal}${plain.repeat(3)}${personal}${plain.repeat(4)}` +
  '<p><a href="https://shop.example.com/november?city={{city}}">Read the news, {{firstName}}</a></p>' +
  '<p><a href="https://shop.example.com/account">Your account</a></p>' +
  '<p style="font-size:12px">To {{firstName}} of {{company}}: <a href="{{unsubscribeUrl}}">Unsubscribe</a></p>' +
  '</td></tr></table></td></tr></table></body></html>';
