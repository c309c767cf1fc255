import { domainToASCII } from 'node:url';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/**
 * Matches two or more labels, of which the last is not a number (RFC 1123 §2.1), with 4 to 255 characters (RFC 5321
 * §4.5.3.1.2).
 */
const HOST_NAME = new RegExp(`^(?=.{4,255}$)(?:${LABEL}\\.)+(?!\\d+$)${LABEL}$`);
/** Matches dots, letters, digits, hyphens, and non-ASCII characters, which the conversion to ASCII checks (UTS #46). */
const CONVERTIBLE = /^[a-z0-9.\u0080-\u{10ffff}-]+$/u;

/** Returns a domain name in lower case and A-labels (RFC 5890 §2.3.2.1). Undefined if the text is not a domain name. */
export function toAsciiDomain(text: string): string | undefined {
  const name = text.toLowerCase();
  if (HOST_NAME.test(name) && !name.includes('xn--')) return name;
  // `domainToASCII` reads its input as the host of a URL, so characters that end a host are refused first.
  if (!CONVERTIBLE.test(name)) return undefined;
  const ascii = domainToASCII(name.normalize('NFC'));
  return HOST_NAME.test(ascii) ? ascii : undefined;
}
