import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { openSession } from '../../channels/email/smtp/handshake.ts';
import { DEFAULT_TIMEOUTS } from '../../channels/email/smtp/types.ts';
import { parseSmtpUrl, type SmtpEndpoint } from '../../channels/email/smtp/url.ts';
import { isPublicAddress } from '../../channels/public-address.ts';
import type { ProviderServers } from '../../rules/emails/email-providers.ts';
import { reasonOf } from '../database-error.ts';
import { type Check, fail, pass, warn } from './report.ts';
import type { Subject } from './subject.ts';

const ANSWER_MS = 4_000;

/**
 * Where mail is handed over: by a server of our own, which meets the world from this network, or by somebody else's.
 */
export type Handover =
  | { to: 'nobody' }
  | { to: 'provider'; servers: ProviderServers }
  | { to: 'own' | 'foreign'; endpoint: SmtpEndpoint; addresses: readonly string[] }
  | { to: 'unknown'; reason: string };

/** Whether the mail server of SMTP_URL takes us, by the same handshake and login as when mail is sent. */
export const mailServerCheck: Check = {
  name: 'mail server',
  async look({ settings }) {
    const { servers } = settings.email;
    if (servers.whose === 'nobody') return [pass('mail is captured: none is needed')];
    if (servers.whose === 'provider') return [pass(servers.title)];
    try {
      const endpoint = parseSmtpUrl(servers.url ?? '');
      const session = await openSession({ endpoint, timeouts: timeouts() }, AbortSignal.timeout(2 * ANSWER_MS));
      session.channel.onClose = () => {};
      session.channel.destroy(new Error('seen enough'));
      return [isPrivate(endpoint, session.channel.encrypted)];
    } catch (error) {
      return [fail(`it does not take us: ${reasonOf(error)}`, 'check SMTP_URL: host, port, user, password and TLS')];
    }
  },
};

/** Who hands mail to the world. A server on this machine or in its network is taken for the tenant's own. */
export async function handoverOf({ settings }: Subject): Promise<Handover> {
  const { servers } = settings.email;
  if (servers.whose === 'nobody') return { to: 'nobody' };
  if (servers.whose === 'provider') return { to: 'provider', servers };
  try {
    const endpoint = parseSmtpUrl(servers.url ?? '');
    const found = isIP(endpoint.host) ? [{ address: endpoint.host }] : await lookup(endpoint.host, { all: true });
    const addresses = found.map(({ address }) => address);
    return { to: addresses.some(isPublicAddress) ? 'foreign' : 'own', endpoint, addresses };
  } catch (error) {
    return { to: 'unknown', reason: reasonOf(error) };
  }
}

function isPrivate({ host, port, loopback, credentials }: SmtpEndpoint, encrypted: boolean) {
  const where = `${host}:${port}`;
  if (encrypted || loopback) return pass(`${where} takes us`);
  const what = credentials ? 'the password and all mail go' : 'mail goes';
  return warn(
    `${where} takes us without TLS: ${what} there readable`,
    'add ?requireTLS=true to SMTP_URL, or use smtps://',
  );
}

function timeouts() {
  return { ...DEFAULT_TIMEOUTS, connectMs: ANSWER_MS, greetingMs: ANSWER_MS, commandMs: ANSWER_MS };
}
