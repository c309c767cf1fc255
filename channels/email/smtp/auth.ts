import { createHmac } from 'node:crypto';
import type { ChannelOptions, SmtpChannel } from './channel.ts';
import type { SmtpExtensions } from './extensions.ts';
import { SmtpHandshakeError } from './handshake-error.ts';
import { buildRefusal } from './refusal.ts';
import type { SmtpReply } from './types.ts';

type SendLine = (line: string) => Promise<SmtpReply>;
type Mechanism = (sendLine: SendLine, user: string, pass: string) => Promise<SmtpReply>;

/**
 * The login mechanisms in the order of preference. With TLS all of them are equally safe. PLAIN is first, because it
 * needs only one round trip.
 */
const MECHANISMS: readonly [string, Mechanism][] = [
  ['PLAIN', signInWithPlain],
  ['LOGIN', signInWithLogin],
  ['CRAM-MD5', signInWithCramMd5],
];

/**
 * Signs in if SMTP_URL has a user (RFC 4954). Without TLS, sends the credentials only to a server on this machine
 * (loopback), or if SMTP_URL has `ignoreTLS=true`.
 * @throws SmtpHandshakeError when the server refuses the credentials; Error when they cannot be sent
 */
export async function authenticate(
  channel: SmtpChannel,
  offers: SmtpExtensions,
  options: ChannelOptions,
): Promise<void> {
  const { endpoint, timeouts } = options;
  if (!endpoint.credentials) return;
  if (!channel.encrypted && !endpoint.loopback && !endpoint.ignoreTls) {
    throw new Error('the server does not offer TLS: credentials are not sent in the clear');
  }
  const mechanism = MECHANISMS.find(([name]) => offers.auth.has(name))?.[1];
  if (!mechanism) throw new Error('the server offers no AUTH that is known here (PLAIN, LOGIN, CRAM-MD5)');
  const sendLine: SendLine = (line) => channel.sendCommand(line, 'the reply to AUTH', timeouts.commandMs);
  const { code, text } = await mechanism(sendLine, endpoint.credentials.user, endpoint.credentials.pass);
  if (code !== 235) throw new SmtpHandshakeError(buildRefusal('auth', code, maskPassword(text, endpoint.credentials)));
}

/**
 * Removes the password from a reply. Some servers repeat a line that they do not understand, and the service stores the
 * reply with the email.
 */
function maskPassword(text: string, { user, pass }: { user: string; pass: string }): string {
  const secrets = [buildPlainLogin(user, pass), base64(pass), pass].filter((secret) => secret !== '');
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

function signInWithPlain(sendLine: SendLine, user: string, pass: string): Promise<SmtpReply> {
  return sendLine(`AUTH PLAIN ${buildPlainLogin(user, pass)}`);
}

function buildPlainLogin(user: string, pass: string): string {
  return base64(`\0${user}\0${pass}`);
}

async function signInWithLogin(sendLine: SendLine, user: string, pass: string): Promise<SmtpReply> {
  const forUser = await sendLine('AUTH LOGIN');
  if (forUser.code !== 334) return forUser;
  const forPassword = await sendLine(base64(user));
  return forPassword.code === 334 ? sendLine(base64(pass)) : forPassword;
}

/** Signs in with CRAM-MD5 (RFC 2195), which does not send the password itself. */
async function signInWithCramMd5(sendLine: SendLine, user: string, pass: string): Promise<SmtpReply> {
  const challenge = await sendLine('AUTH CRAM-MD5');
  if (challenge.code !== 334) return challenge;
  const digest = createHmac('md5', pass).update(Buffer.from(challenge.text, 'base64')).digest('hex');
  return sendLine(base64(`${user} ${digest}`));
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
