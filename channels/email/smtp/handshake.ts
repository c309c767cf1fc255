import os from 'node:os';
import type { SmtpEndpoint } from '../../../rules/emails/smtp-url.ts';
import { authenticate } from './auth.ts';
import { type ChannelOptions, SmtpChannel } from './channel.ts';
import { NO_EXTENSIONS, parseExtensions, type SmtpExtensions } from './extensions.ts';
import { SmtpHandshakeError } from './handshake-error.ts';
import { buildRefusal } from './refusal.ts';

/** The codes of replies to EHLO that mean that a server supports only HELO (RFC 5321 §3.2). */
const EHLO_UNKNOWN_CODES: ReadonlySet<number> = new Set([500, 501, 502, 504]);

/** A connection that is ready for messages. */
export interface SmtpSession {
  channel: SmtpChannel;
  offers: SmtpExtensions;
}

/**
 * Connects, waits for the greeting, and sends EHLO. If the server offers STARTTLS, encrypts the connection and sends
 * EHLO again. Signs in if SMTP_URL has a user. If `signal` is aborted, the connection is closed and the promise
 * rejects.
 * @throws SmtpHandshakeError if the server refuses; Error if the connection fails
 */
export async function openSession(options: ChannelOptions, signal: AbortSignal): Promise<SmtpSession> {
  const channel = new SmtpChannel(options);
  const stop = (): void => channel.destroy(new Error('the pool was closed'));
  signal.addEventListener('abort', stop);
  try {
    const greeting = await channel.waitForGreeting();
    if (greeting.code !== 220) throw new SmtpHandshakeError(buildRefusal('connect', greeting.code, greeting.text));
    let offers = await sendEhlo(channel, options);
    if (await startTlsIfOffered(channel, offers, options)) offers = await sendEhlo(channel, options);
    await authenticate(channel, offers, options);
    return { channel, offers };
  } catch (error) {
    channel.onClose = () => {};
    channel.destroy(error as Error);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function sendEhlo(channel: SmtpChannel, { endpoint, timeouts }: ChannelOptions): Promise<SmtpExtensions> {
  const name = getEhloName(endpoint);
  const reply = await channel.sendCommand(`EHLO ${name}`, 'the reply to EHLO', timeouts.commandMs);
  if (reply.code === 250) return parseExtensions(reply.text);
  // Sends HELO only after these codes. After another refusal, HELO would hide the reason of the refusal or get no
  // reply.
  if (!EHLO_UNKNOWN_CODES.has(reply.code)) throw new SmtpHandshakeError(buildRefusal('ehlo', reply.code, reply.text));
  const heloReply = await channel.sendCommand(`HELO ${name}`, 'the reply to HELO', timeouts.commandMs);
  if (heloReply.code !== 250) throw new SmtpHandshakeError(buildRefusal('ehlo', heloReply.code, heloReply.text));
  return NO_EXTENSIONS;
}

/**
 * Encrypts the connection if the server offers STARTTLS, unless the connection already has TLS or SMTP_URL has
 * `ignoreTLS=true`. Returns true if this call has encrypted the connection. Throws if STARTTLS fails.
 */
async function startTlsIfOffered(
  channel: SmtpChannel,
  offers: SmtpExtensions,
  options: ChannelOptions,
): Promise<boolean> {
  const { endpoint, timeouts } = options;
  if (channel.encrypted || endpoint.ignoreTls) return false;
  if (!offers.startTls) {
    if (endpoint.requireTls) throw new Error('the server does not offer STARTTLS, and SMTP_URL requires TLS');
    return false;
  }
  const { code, text } = await channel.sendCommand('STARTTLS', 'the reply to STARTTLS', timeouts.commandMs, true);
  if (code !== 220) throw new SmtpHandshakeError(buildRefusal('starttls', code, text));
  await channel.startTls(timeouts.commandMs);
  return true;
}

/**
 * Returns the name for EHLO: the name from SMTP_URL or the configuration, or else this host's name if it is a full
 * domain name (RFC 5321 §4.1.3), or else `[127.0.0.1]`.
 */
export function getEhloName({ clientName }: Pick<SmtpEndpoint, 'clientName'>): string {
  const name = clientName ?? os.hostname();
  if (clientName !== null) return name;
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(name) ? name : '[127.0.0.1]';
}
