/**
 * Services that hide where a link leads. Spammers use them, so filters count every mail against its sender that names
 * one. A company's own short domain is not among them: only who gives links to anybody.
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

/** Whether a host gives short links to anybody. */
export function isShortener(host: string): boolean {
  return SHORTENERS.has(host.toLowerCase().replace(/^www\./, ''));
}
