import { isIP } from 'node:net';

/** Where mail is handed over, and how. */
export interface SmtpEndpoint {
  host: string;
  port: number;
  /** TLS from the first byte (`smtps://`). */
  implicitTls: boolean;
  /** Without STARTTLS nothing is sent. */
  requireTls: boolean;
  /** STARTTLS is not used, and credentials go in the clear. */
  ignoreTls: boolean;
  /** The certificate must be valid for the host. */
  verifyCertificate: boolean;
  loopback: boolean;
  credentials: { user: string; pass: string } | null;
  /** What the client calls itself at EHLO; null takes the host's own name. */
  clientName: string | null;
  /** Most connections at a time, and messages after which one is given back; null where the URL does not say. */
  maxConnections: number | null;
  maxMessages: number | null;
}

/**
 * Reads `smtp://user:pass@host:port` or `smtps://…` with the options `requireTLS=true`, `ignoreTLS=true`,
 * `tls.rejectUnauthorized=false`, `name=`, `maxConnections=` and `maxMessages=`, which are nodemailer's names. Default
 * ports: smtps 465, with a user 587 (submission), else 25. A relay on loopback may show any certificate: the Debian one
 * signs itself, and nobody is between.
 * @throws Error that names what is wrong, never the password
 */
export function parseSmtpUrl(text: string): SmtpEndpoint {
  if (!URL.canParse(text)) throw new Error('SMTP_URL is no URL');
  const url = new URL(text);
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')
    throw new Error('SMTP_URL must begin with smtp:// or smtps://');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!host) throw new Error('SMTP_URL names no host');
  const implicitTls = url.protocol === 'smtps:';
  const loopback = isLoopback(host);
  const verify = url.searchParams.get('tls.rejectUnauthorized');
  const user = decoded(url.username);
  return {
    host,
    port: Number(url.port) || (implicitTls ? 465 : user ? 587 : 25),
    implicitTls,
    requireTls: url.searchParams.get('requireTLS') === 'true',
    ignoreTls: url.searchParams.get('ignoreTLS') === 'true',
    verifyCertificate: verify === null ? !loopback : verify !== 'false',
    loopback,
    credentials: user ? { user, pass: decoded(url.password) } : null,
    clientName: url.searchParams.get('name'),
    maxConnections: countOf(url, 'maxConnections'),
    maxMessages: countOf(url, 'maxMessages'),
  };
}

function countOf(url: URL, name: string): number | null {
  const value = url.searchParams.get(name);
  if (value === null) return null;
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error(`SMTP_URL: ${name} must be a positive number`);
  return Number(value);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('SMTP_URL: user and password must be percent-encoded');
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
