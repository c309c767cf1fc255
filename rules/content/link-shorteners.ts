/**
 * Services that hide the target of a link. Spammers use such services, so spam filters count every link to them against
 * the sender. The list has only public services, not short domains of a single company.
 */
const SHORTENERS: ReadonlySet<string> = new Set([
  'adf.ly',
  'bit.do',
  'bit.ly',
  'bitly.com',
  'bl.ink',
  'buff.ly',
  'clck.ru',
  'cutt.ly',
  'da.gd',
  'dlvr.it',
  'goo.gl',
  'ift.tt',
  'is.gd',
  'j.mp',
  'lnkd.in',
  'ow.ly',
  'qr.ae',
  'rb.gy',
  'rebrand.ly',
  's.id',
  'shorte.st',
  'short.io',
  'shorturl.at',
  't.co',
  't.ly',
  't2m.io',
  'tiny.cc',
  'tinyurl.com',
  'u.to',
  'urlz.fr',
  'v.gd',
  'x.co',
]);

/** Tells whether a host is a public link shortener. */
export function isShortener(host: string): boolean {
  return SHORTENERS.has(host.toLowerCase().replace(/^www\./, ''));
}
