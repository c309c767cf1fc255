/**
 * The extensions that a server supports (RFC 5321 §4.1.1.1). The client requests them again after STARTTLS, because an
 * attacker can forge an unencrypted reply.
 */
export interface SmtpExtensions {
  pipelining: boolean;
  eightBitMime: boolean;
  smtpUtf8: boolean;
  startTls: boolean;
  /** The server offers RFC 1870, so MAIL may declare the size of the message. */
  size: boolean;
  /** The longest message that the server accepts, in octets. Infinity if the server names no limit. */
  maxBytes: number;
  /** The names of the AUTH mechanisms in upper case. */
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

/** Reads the reply to EHLO. The first line is the server's name; every other line is a keyword. */
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
