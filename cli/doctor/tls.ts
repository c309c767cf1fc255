import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import type { Settings } from '../../rules/config.ts';
import { pluralize } from '../../rules/pluralize.ts';
import { findInnermostReason } from '../database-error.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

const CONNECT_MS = 4_000;
/**
 * If a certificate is valid for fewer days, the check warns. Certificates are usually renewed 30 days before they
 * expire. If fewer than 14 days are left, the automatic renewal has most likely failed.
 */
const DAYS_LEFT_MIN = 14;
const DAY_MS = 86_400_000;

/** Checks that traffic from outside is encrypted, and that the certificates are valid for at least 14 more days. */
export const tlsCheck: DoctorCheck = {
  name: 'TLS',
  async run({ settings }) {
    return [await checkPublicUrl(settings), ...(await checkMailListeners(settings))];
  },
};

async function checkPublicUrl({ publicUrl }: Settings): Promise<DoctorFinding> {
  const url = new URL(publicUrl);
  if (url.protocol === 'https:') return checkCertificate(url);
  if (isLoopbackHost(url.hostname)) return passFinding(`${publicUrl} is this machine: nothing to encrypt`);
  return failFinding(
    `PUBLIC_URL ${publicUrl} is not encrypted: passwords, sessions and keys are sent readable`,
    'put a proxy with a certificate in front of the API, and set PUBLIC_URL to its https:// address',
  );
}

/** Checks the certificate of PUBLIC_URL: a trusted issuer, the host name and the expiry date. */
function checkCertificate(url: URL): Promise<DoctorFinding> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const name = isIP(host) ? {} : { servername: host };
    const socket = connect({
      host,
      port: Number(url.port) || 443,
      ...name,
      rejectUnauthorized: false,
      timeout: CONNECT_MS,
    });
    const end = (finding: DoctorFinding) => {
      socket.destroy();
      resolve(finding);
    };
    const unreached = (reason: string) =>
      end(
        warnFinding(
          `${url.origin} was not reached from here (${reason}), so its certificate is not known`,
          'start the proxy, or check it from outside this network',
        ),
      );
    socket.on('secureConnect', () =>
      end(judgeCertificate(url, socket.getPeerCertificate(), socket.authorizationError)),
    );
    socket.on('timeout', () => unreached(`no response in ${CONNECT_MS / 1000} s`));
    socket.on('error', (error) => unreached(findInnermostReason(error)));
  });
}

function judgeCertificate(
  url: URL,
  certificate: PeerCertificate,
  problem: Error | string | null | undefined,
): DoctorFinding {
  if (problem) {
    const reason = problem instanceof Error ? problem.message : problem;
    return failFinding(
      `the certificate of ${url.origin} is not valid: ${reason}`,
      `get a certificate for ${url.hostname} that browsers trust`,
    );
  }
  return judgeExpiry(`the certificate of ${url.origin}`, new Date(certificate.valid_to));
}

async function checkMailListeners(settings: Settings): Promise<DoctorFinding[]> {
  const { tls, smtpRelay, inboundSmtpPort, publicHost } = settings;
  if (tls.certFile && tls.keyFile) return [await checkFiles(tls.certFile, tls.keyFile)];
  const open = publicHost && [
    smtpRelay.port !== undefined && 'SMTP relay',
    inboundSmtpPort !== undefined && 'inbound SMTP',
  ];
  const names = open ? open.filter(Boolean).join(' and ') : '';
  if (!names) return [];
  return [
    warnFinding(
      `${names} without TLS`,
      'set TLS_CERT_FILE and TLS_KEY_FILE: the relay accepts no password without them',
    ),
  ];
}

async function checkFiles(certFile: string, keyFile: string): Promise<DoctorFinding> {
  const remedy = 'set TLS_CERT_FILE and TLS_KEY_FILE to the PEM files of one certificate that the service can read';
  try {
    const certificate = new X509Certificate(await readFile(certFile));
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile)))) {
      return failFinding(`TLS_KEY_FILE is not the key of TLS_CERT_FILE`, remedy);
    }
    return judgeExpiry('TLS_CERT_FILE', new Date(certificate.validTo));
  } catch (error) {
    return failFinding(`TLS_CERT_FILE or TLS_KEY_FILE cannot be used: ${findInnermostReason(error)}`, remedy);
  }
}

function judgeExpiry(what: string, until: Date): DoctorFinding {
  const days = Math.floor((until.getTime() - Date.now()) / DAY_MS);
  if (days < 0) return failFinding(`${what} expired ${pluralize(-days, 'day')} ago`, 'renew the certificate');
  if (days < DAYS_LEFT_MIN)
    return warnFinding(
      `${what} expires in ${pluralize(days, 'day')}`,
      'renew the certificate, and find out why it was not renewed automatically',
    );
  return passFinding(`${what} is valid for ${pluralize(days, 'day')}`);
}
