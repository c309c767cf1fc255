/** The newsletter that the campaign benches send: 5 kB of HTML with personal fields, two tracked links and an unsubscribe link. */
export const SUBJECT = '{{firstName}}, the news of November for {{city}}';

const PARAGRAPH =
  '<p style="margin:0 0 16px;font-family:sans-serif;font-size:15px;line-height:24px;color:#1f2937">Dear {{firstName}} {{lastName}}, as a ' +
  'customer of {{company}} in {{city}} on the {{plan}} plan you have {{points}} points. There is a lot to tell this month, and all of it ' +
  'is below: what is new, what has become faster, and what we have learned from those who wrote to us. Thank you for reading on.</p>';

export const BODY =
  '<!doctype html><html><head><meta charset="utf-8"><title>News</title></head><body style="margin:0;background:#f3f4f6">' +
  '<table role="presentation" width="100%"><tr><td align="center"><table role="presentation" width="600"><tr><td>' +
  `<h1 style="font-family:sans-serif">Hello {{firstName}}</h1>${PARAGRAPH.repeat(9)}` +
  '<p><a href="https://shop.example.com/november?city={{city}}">Read the news</a></p>' +
  '<p><a href="https://shop.example.com/account">Your account</a></p>' +
  '<p style="font-size:12px"><a href="{{unsubscribeUrl}}">Unsubscribe</a></p>' +
  '</td></tr></table></td></tr></table></body></html>';
