import { isIP } from 'node:net';

/** The mail server through which the service sends, and its options. */
export interface SmtpEndpoint {
  host: string;
  port: number;
  /** True if TLS starts with the first byte (`smtps://`). */
  implicitTls: boolean;
  /** True if nothing is sent without STARTTLS. */
  requireTls: boolean;
  /** True if STARTTLS is not used, so credentials are sent in plain text. */
  ignoreTls: boolean;
  /** True if the certificate must be valid for the host. */
  verifyCertificate: boolean;
  loopback: boolean;
  credentials: { user: string; pass: string } | null;
  /** The name that the service sends in EHLO. Null if the URL does not set it. */
  clientName: string | null;
  /** The maximum number of connections. Null if the URL does not set it. */
  maxConnections: number | null;
  /** The maximum number of messages on one connection. Null if the URL does not set it. */
  maxMessages: number | null;
}

/** The options of SMTP_URL. The options have the same names as in nodemailer. */
const SWITCHES = ['requireTLS', 'ignoreTLS', 'tls.rejectUnauthorized'] as const;
const OPTIONS: readonly string[] = [...SWITCHES, 'name', 'maxConnections', 'maxMessages'];
/** Matches a host name, or an address literal (RFC 5321 §4.1.3). */
const EHLO_NAME = /^(\[[\w.:]{3,60}\]|[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)$/i;

/**
 * Reads `smtp://user:pass@host:port` or `smtps://…` with its options. The default port is 465 for smtps, 587
 * (submission) with a user, and 25 otherwise. By default, a relay on a loopback address may have any certificate:
 * Debian's default certificate is self-signed, and no network is involved. An unknown option is refused, because a
 * misspelled option could leave required TLS off.
 * @throws Error with a message that names the problem and never contains the password
 */
export function parseSmtpUrl(text: string): SmtpEndpoint {
  if (!URL.canParse(text)) throw new Error('SMTP_URL is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')
    throw new Error('SMTP_URL must start with smtp:// or smtps://');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!host) throw new Error('SMTP_URL names no host');
  if (url.pathname.length > 1 || url.hash)
    throw new Error('SMTP_URL: options start with ?, and nothing else follows the port');
  checkOptions(url.searchParams);
  const implicitTls = url.protocol === 'smtps:';
  const loopback = isLoopback(host);
  const verify = url.searchParams.get('tls.rejectUnauthorized');
  const user = decodeUserInfo(url.username);
  return {
    host,
    port: Number(url.port) || (implicitTls ? 465 : user ? 587 : 25),
    implicitTls,
    requireTls: url.searchParams.get('requireTLS') === 'true',
    ignoreTls: url.searchParams.get('ignoreTLS') === 'true',
    verifyCertificate: verify === null ? !loopback : verify !== 'false',
    loopback,
    credentials: user ? { user, pass: decodeUserInfo(url.password) } : null,
    clientName: url.searchParams.get('name'),
    maxConnections: readCount(url, 'maxConnections'),
    maxMessages: readCount(url, 'maxMessages'),
  };
}

function checkOptions(options: URLSearchParams): void {
  for (const name of options.keys()) {
    if (OPTIONS.includes(name)) continue;
    const suggestion = OPTIONS.find((option) => option.toLowerCase() === name.toLowerCase());
    const options = `The options are ${OPTIONS.slice(0, -1).join(', ')} and ${OPTIONS.at(-1)}.`;
    const printableName = name.replace(/[^\w.-]/g, '?').slice(0, 40);
    throw new Error(
      `SMTP_URL: unknown option ${printableName}${suggestion ? `, did you mean ${suggestion}?` : '.'} ${options}`,
    );
  }
  const repeated = OPTIONS.find((name) => options.getAll(name).length > 1);
  if (repeated) throw new Error(`SMTP_URL: ${repeated} is there twice`);
  if (options.get('requireTLS') === 'true' && options.get('ignoreTLS') === 'true')
    throw new Error('SMTP_URL: requireTLS and ignoreTLS contradict each other');
  for (const name of SWITCHES) {
    if (!['true', 'false'].includes(options.get(name) ?? 'true'))
      throw new Error(`SMTP_URL: ${name} must be true or false`);
  }
  if (!EHLO_NAME.test(options.get('name') ?? 'a')) throw new Error('SMTP_URL: name must be a host name');
}

/** Returns a one-line error message if an SMTP_URL cannot be used. Undefined if it is usable. */
export function findSmtpUrlError(text: string): string | undefined {
  try {
    parseSmtpUrl(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function readCount(url: URL, name: string): number | null {
  const value = url.searchParams.get(name);
  if (value === null) return null;
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error(`SMTP_URL: ${name} must be a positive number`);
  return Number(value);
}

function decodeUserInfo(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('SMTP_URL: user and password must be percent-encoded');
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
