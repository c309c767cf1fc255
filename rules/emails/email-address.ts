import { domainToASCII } from 'node:url';
import { toAsciiDomain } from '../domains/domain-name.ts';

/** The limits of an address as SMTP sends it, in bytes (RFC 5321 §4.5.3.1.1 and §4.5.3.1.2). */
const LOCAL_PART_MAX_BYTES = 64;
const DOMAIN_MAX_BYTES = 255;

/** The length of the longest address: local part, `@` and domain. */
export const EMAIL_MAX_CHARS = LOCAL_PART_MAX_BYTES + 1 + DOMAIN_MAX_BYTES;

/** The length of the longest display name of an address. A longer name does not fit into a header line. */
export const NAME_MAX_CHARS = 255;
/** The longest text that is parsed as a mailbox: an address, a quoted name and the brackets. */
export const MAILBOX_MAX_CHARS = EMAIL_MAX_CHARS + 2 * NAME_MAX_CHARS;

/** An address with its display name. */
export interface Mailbox {
  /**
   * The address in the form that is stored and compared: lower case, with the domain in A-labels, and quoted only if
   * necessary.
   */
  email: string;
  name: string | null;
}

/** A mailbox, or a sentence that tells the user why the text is not a mailbox. */
export type MailboxResult = ({ ok: true } & Mailbox) | { ok: false; reason: string };

/** Characters of a dot-atom (RFC 5322 §3.2.3), without the dot. */
const ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const DOT_ATOM = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'i');
const ATOMS_AND_DOTS = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]+$/i;
/**
 * The content of a quoted local part: printable ASCII, where a backslash may precede any character (RFC 5321 §4.1.2).
 */
const QUOTED_CONTENT = /^(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*$/;
/**
 * Matches a local part without quotes that may contain non-ASCII characters (RFC 6531 §3.3), of at most 64 characters.
 */
const UTF8_LOCAL_PART = /^[^\p{Cc}\p{Zs}\p{Zl}\p{Zp}"(),:;<>@[\]\\]{1,64}$/u;
const ASCII = /^[\x20-\x7e]*$/;
const CONTROL = /\p{Cc}/u;

const DOMAIN_NEEDED = `The part after the @ must be a domain name such as example.com, of at most ${DOMAIN_MAX_BYTES} bytes`;
const NOT_AN_ADDRESS = 'Must be an email address such as ada@example.com';

/**
 * Reads one mailbox (RFC 5322 §3.4): `ada@example.com`, `<ada@example.com>`, or `Ada <ada@example.com>`.
 * An address is an RFC 5321 mailbox with a dot-atom or a quoted local part and a domain name; international domains
 * become A-labels. Address literals (`ada@[192.0.2.1]`) and UTF-8 local parts (RFC 6531) are refused.
 */
export function parseMailbox(text: string): MailboxResult {
  const { name, address } = splitMailbox(text.trim());
  if (name === undefined) return { ok: false, reason: 'Must be one address; put a name with commas in quotes' };
  const parsed = parseAddress(address);
  return parsed.ok ? { ok: true, email: parsed.email, name } : parsed;
}

/**
 * Matches lower-case ASCII without quotes or spaces. Normalization does not change such a text, whether it is an
 * address or not.
 */
const NORMALIZED = /^[a-z0-9._+-]+@[a-z0-9.-]+$/;

/**
 * Returns an address in the form in which it is compared and stored (contract §3.1 Addresses). Text that is not an
 * address is only trimmed and lower-cased. A campaign calls this function several times per email, so it returns common
 * addresses without parsing them.
 */
export function normalizeEmail(email: string): string {
  if (NORMALIZED.test(email)) return email;
  const parsed = parseMailbox(email);
  return parsed.ok ? parsed.email : email.trim().toLowerCase();
}

/**
 * Returns the forms in which stored addresses may contain a search text: as written, and with its domain in A-labels.
 * Both forms are needed, because a text such as `münchen` may be a part of a domain or of a local part. A whole address
 * has only its stored form.
 */
export function toSearchForms(text: string): string[] {
  const parsed = parseMailbox(text);
  if (parsed.ok) return [parsed.email];
  const written = text.trim().normalize('NFC').toLowerCase();
  const begin = written.lastIndexOf('@') + 1;
  const labels = written.slice(begin).split('.');
  const ascii = labels.map((label) => (ASCII.test(label) ? label : domainToASCII(label) || label)).join('.');
  return [...new Set([written, written.slice(0, begin) + ascii])];
}

/** Tells whether a text is an address that the service accepts. */
export function isEmailAddress(email: string): boolean {
  return parseMailbox(email).ok;
}

/**
 * Reads the sender of a received email. Also accepts addresses to which the service cannot send: addresses with a UTF-8
 * local part (RFC 6531). Adds missing quotes to a local part such as `aaa..bbb`, because header parsers remove them and
 * some systems never write them. Undefined if the text contains no sender.
 */
export function parseSender(text: string): string | undefined {
  const parsed = parseMailbox(text);
  if (parsed.ok) return parsed.email;
  const [local, domain] = [emailLocalPart(text.trim()), toAsciiDomain(emailDomain(text))];
  if (domain === undefined || local === '') return undefined;
  if (ASCII.test(local)) {
    const quoted = parseAddress(`"${local.replaceAll(/["\\]/g, '\\$&')}"@${domain}`);
    return quoted.ok ? quoted.email : undefined;
  }
  if (!UTF8_LOCAL_PART.test(local)) return undefined;
  return `${local.normalize('NFC').toLowerCase()}@${domain}`;
}

/**
 * Returns the part after the last `@`, in lower case, or an empty text without an `@`. A local part may contain an `@`,
 * but a domain cannot.
 */
export function emailDomain(email: string): string {
  const at = email.lastIndexOf('@');
  return at < 0
    ? ''
    : email
        .slice(at + 1)
        .trim()
        .toLowerCase();
}

/** Returns the part before the last `@`, as written, or an empty text without an `@`. */
export function emailLocalPart(email: string): string {
  return email.slice(0, Math.max(0, email.lastIndexOf('@')));
}

function parseAddress(address: string): { ok: true; email: string } | { ok: false; reason: string } {
  const at = address.lastIndexOf('@');
  if (at < 0) return { ok: false, reason: NOT_AN_ADDRESS };
  const local = parseLocalPart(emailLocalPart(address));
  if (!local.ok) return local;
  const written = address.slice(at + 1);
  if (written.startsWith('[')) {
    return { ok: false, reason: 'The part after the @ must be a domain name, not an IP address' };
  }
  const domain = written.endsWith('.') ? undefined : toAsciiDomain(written);
  if (domain === undefined) {
    return { ok: false, reason: DOMAIN_NEEDED };
  }
  return { ok: true, email: `${local.local}@${domain}` };
}

function parseLocalPart(written: string): { ok: true; local: string } | { ok: false; reason: string } {
  if (!ASCII.test(written)) {
    const reason = 'The part before the @ must be ASCII: UTF-8 local parts (SMTPUTF8, RFC 6531) are not supported';
    return { ok: false, reason: CONTROL.test(written) ? NOT_AN_ADDRESS : reason };
  }
  const local = canonicalizeLocalPart(written);
  if (local === undefined) return { ok: false, reason: unquotedReason(written) };
  if (local.length > LOCAL_PART_MAX_BYTES) {
    return { ok: false, reason: `At most ${LOCAL_PART_MAX_BYTES} characters stand before the @` };
  }
  return { ok: true, local };
}

/** Removes unnecessary quotes and backslashes, because `"ada"` and `ada` are the same mailbox (RFC 5321 §4.1.2). */
function canonicalizeLocalPart(written: string): string | undefined {
  if (DOT_ATOM.test(written)) return written.toLowerCase();
  if (written.length < 2 || !written.startsWith('"') || !written.endsWith('"')) return undefined;
  const inside = written.slice(1, -1);
  if (!QUOTED_CONTENT.test(inside)) return undefined;
  const content = inside.replaceAll(/\\(.)/g, '$1').toLowerCase();
  return DOT_ATOM.test(content) ? content : `"${content.replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * Returns the error for an invalid local part without quotes. Some old systems created addresses with two dots in a
 * row, or with a dot at the start or end. RFC 5321 allows such dots only in quotes.
 */
function unquotedReason(written: string): string {
  if (!ATOMS_AND_DOTS.test(written)) return NOT_AN_ADDRESS;
  return `Put the part before the @ in quotes, because of its dots: "${written}"@…`;
}

/** Splits `Ada <ada@example.com>`. The name is undefined if the text contains more than one mailbox. */
function splitMailbox(text: string): { name: string | null | undefined; address: string } {
  const open = text.endsWith('>') ? findBracket(text) : -1;
  if (open < 0) return { name: null, address: text };
  return { name: readDisplayName(text.slice(0, open).trim()), address: text.slice(open + 1, -1).trim() };
}

/** Returns the index of the first `<` outside quotes. */
function findBracket(text: string): number {
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (quoted && text[at] === '\\') at += 1;
    else if (text[at] === '"') quoted = !quoted;
    else if (text[at] === '<' && !quoted) return at;
  }
  return -1;
}

/** Reads a display name with or without quotes. Undefined if the text is more than one name. */
function readDisplayName(written: string): string | null | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/su.exec(written)?.[1];
  const name = (quoted === undefined ? written : quoted.replaceAll(/\\(.)/gsu, '$1')).trim().normalize('NFC');
  const hasSeveralMailboxes = quoted === undefined && /[<>;]|,.*@|@.*,/.test(name);
  if (hasSeveralMailboxes || CONTROL.test(name) || name.length > NAME_MAX_CHARS) return undefined;
  return name === '' ? null : name;
}
