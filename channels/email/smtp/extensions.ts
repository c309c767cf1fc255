/**
 * The extensions that a server offers (RFC 5321 §4.1.1.1). Asked again after STARTTLS, because anyone can forge a reply
 * in the clear.
 */
export interface SmtpExtensions {
  pipelining: boolean;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  startTls: boolean;
  /** RFC 1870 is offered: MAIL may say how long the message is. */
  size: boolean;
  /** Longest message in octets; Infinity where the server names no limit. */
  maxBytes: number;
  /** Mechanisms of AUTH in upper case. */
  auth: ReadonlySet<string>;
}

export const NO_EXTENSIONS: SmtpExtensions = {
  pipelining: false,
  eightBitMime: false,
  smtpUtf8: false,
  startTls: false,
  size: false,
  maxBytes: Number.POSITIVE_INFINITY,
  auth: new Set(),
};

/** Reads the reply to EHLO. The first line is the server's name; every other one, the last too, is a keyword. */
export function parseExtensions(text: string): SmtpExtensions {
  const keywords = new Map<string, string[]>();
  const auth = new Set<string>();
  for (const line of text.split('\n').slice(1)) {
    const [keyword = '', ...values] = line.trim().toUpperCase().split(/[ =]+/); // Old servers write `AUTH=LOGIN`.
    keywords.set(keyword, values);
    if (keyword === 'AUTH') for (const mechanism of values) auth.add(mechanism);
  }
  return {
    pipelining: keywords.has('PIPELINING'),
    eightBitMime: keywords.has('8BITMIME'),
    smtpUtf8: keywords.has('SMTPUTF8'),
    startTls: keywords.has('STARTTLS'),
    size: keywords.has('SIZE'),
    maxBytes: Number(keywords.get('SIZE')?.[0]) || Number.POSITIVE_INFINITY, // `SIZE` and `SIZE 0` name no limit.
    auth,
  };
}
