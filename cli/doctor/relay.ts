import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { getEhloName } from '../../channels/email/smtp/handshake.ts';
import { type ProbeResult, probe } from '../../channels/email/smtp/probe.ts';
import { DEFAULT_TIMEOUTS } from '../../channels/email/smtp/types.ts';
import { isPublicAddress } from '../../channels/public-address.ts';
import { listAllRoutePauses } from '../../db/sending/route-pauses.ts';
import type { ProviderServers } from '../../rules/emails/email-providers.ts';
import { createProbeEnvelope } from '../../rules/emails/probe-envelope.ts';
import { classifyRefusal } from '../../rules/emails/refusal.ts';
import { parseSmtpUrl, type SmtpEndpoint } from '../../rules/emails/smtp-url.ts';
import { redact } from '../../rules/failure-text.ts';
import { findInnermostReason } from '../database-error.ts';
import type { Deployment } from './deployment.ts';
import { listVerifiedDomains } from './domains.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

const RESPONSE_MS = 4_000;
const REPLY_MAX_CHARS = 300;

/**
 * The mail server to which the service passes its email. `own` is our own server, which sends from this network, and
 * `foreign` is the server of another operator. `nobody` means that email is captured. `unknown` means that the host of
 * SMTP_URL could not be resolved.
 */
export type Handover =
  | { to: 'nobody' }
  | { to: 'provider'; servers: ProviderServers }
  | { to: 'own' | 'foreign'; endpoint: SmtpEndpoint; addresses: readonly string[] }
  | { to: 'unknown'; reason: string };

/**
 * Checks that the mail server of SMTP_URL accepts email from this service. Connects and signs in as for a real email,
 * sends MAIL and RCPT, and cancels the transaction with RSET.
 */
export const mailServerCheck: DoctorCheck = {
  name: 'mail server',
  async run(deployment) {
    const { email } = deployment.settings;
    const { servers } = email;
    if (servers.whose === 'nobody') return [passFinding('email is captured: no server is needed')];
    if (servers.whose === 'provider') return [passFinding(servers.title)];
    const parsed = parseSmtpUrl(servers.url ?? '');
    const endpoint = { ...parsed, clientName: parsed.clientName ?? email.ehloName };
    const envelope = createProbeEnvelope(await readReturnPathHost(deployment));
    const signal = AbortSignal.timeout(2 * RESPONSE_MS);
    const finding = judgeProbe(
      await probe({ endpoint, timeouts: timeouts(), lastTls: {} }, envelope, signal),
      endpoint,
    );
    return [finding, ...(await listPauseFindings(deployment))];
  },
};

/** Warns about paused routes, with the server's reply. */
async function listPauseFindings({ postgres }: Deployment): Promise<DoctorFinding[]> {
  const inspected = await postgres();
  // A database with pending migrations may lack the table.
  const pauses = 'reason' in inspected ? [] : await listAllRoutePauses(inspected.db).catch(() => []);
  return pauses.map(({ projectName, reply }) =>
    warnFinding(
      `email of ${projectName ?? 'all projects'} waits, because the mail server replied ${reply}`,
      'fix the cause: the next probe that succeeds ends the pause, or end it on the Admin page of the dashboard',
    ),
  );
}

/** Returns the domain for the envelope sender of the probe. */
async function readReturnPathHost({ settings, postgres }: Deployment): Promise<string> {
  const { returnPathDomain, ehloName } = settings.email;
  if (returnPathDomain !== undefined) return returnPathDomain;
  const inspected = await postgres();
  // A database with pending migrations may lack the table.
  const domains = 'reason' in inspected ? [] : await listVerifiedDomains(inspected).catch(() => []);
  return domains[0]?.domain ?? ehloName ?? new URL(settings.publicUrl).hostname;
}

function judgeProbe(result: ProbeResult, endpoint: SmtpEndpoint): DoctorFinding {
  if (result.outcome === 'accepted') return judgeEncryption(endpoint, result.encrypted);
  const where = `${endpoint.host}:${endpoint.port}`;
  if (result.outcome === 'unsent')
    return failFinding(
      `${where} does not accept email: ${result.error}`,
      'check SMTP_URL: host, port, user, password and TLS',
    );
  const { about, retry } = classifyRefusal(result);
  // The server has refused only this recipient, so it accepts email from this service.
  if (about === 'recipient') return passFinding(`${where} accepts email from ${getEhloName(endpoint)}`);
  const command = result.stage === 'message' ? 'DATA' : result.stage.toUpperCase();
  const message = `${where} does not accept email from ${getEhloName(endpoint)}: at ${command} it replies ${toReplyLine(result)}`;
  if (retry && result.code < 500) return warnFinding(message, 'the server may only be busy: retry');
  return failFinding(message, 'check SMTP_URL (host, port, user, password, TLS, name=), and what its account may send');
}

/** Returns the server's reply in one line, without email addresses. */
function toReplyLine({ code, text }: { code: number; text: string }): string {
  return redact(`${code} ${text}`.replace(/\s+/g, ' ')).slice(0, REPLY_MAX_CHARS);
}

/**
 * Returns the mail server to which the service passes its email. A server without a public address, on this machine or
 * in its private network, counts as our own.
 */
export async function findMailServer({ settings }: Deployment): Promise<Handover> {
  const { servers } = settings.email;
  if (servers.whose === 'nobody') return { to: 'nobody' };
  if (servers.whose === 'provider') return { to: 'provider', servers };
  try {
    const endpoint = parseSmtpUrl(servers.url ?? '');
    const found = isIP(endpoint.host) ? [{ address: endpoint.host }] : await lookup(endpoint.host, { all: true });
    const addresses = found.map(({ address }) => address);
    return { to: addresses.some(isPublicAddress) ? 'foreign' : 'own', endpoint, addresses };
  } catch (error) {
    return { to: 'unknown', reason: findInnermostReason(error) };
  }
}

function judgeEncryption(endpoint: SmtpEndpoint, encrypted: boolean): DoctorFinding {
  const { host, port, loopback, credentials } = endpoint;
  const where = `${host}:${port}`;
  if (encrypted || loopback) return passFinding(`${where} accepts email from ${getEhloName(endpoint)}`);
  const what = credentials ? 'the password and all email are' : 'email is';
  return warnFinding(
    `${where} accepts email without TLS: ${what} sent unencrypted`,
    'add ?requireTLS=true to SMTP_URL, or use smtps://',
  );
}

function timeouts() {
  return { ...DEFAULT_TIMEOUTS, connectMs: RESPONSE_MS, greetingMs: RESPONSE_MS, commandMs: RESPONSE_MS };
}
