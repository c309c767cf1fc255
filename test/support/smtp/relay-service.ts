import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../cli/start/ports.ts';
import { buildDomain } from '../../build/senders.ts';
import { createCertificate } from '../certificate.ts';
import { startTestService, type TestService } from '../service.ts';
import { until } from '../until.ts';
import { type SmtpSink, startSmtpSink } from './smtp-sink.ts';

export interface RelayService {
  service: TestService;
  /** The sink that receives the emails of the projects. */
  sink: SmtpSink;
  /** Port of the relay, on loopback. */
  port: number;
  /** The DKIM public key of `sender.test`. */
  publicKey: string;
  /** Waits until this number of emails has arrived, and returns the emails in the sink. */
  waitForEmails(count?: number): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Starts the whole service with an SMTP relay, which has a certificate. `sender.test` is a verified domain of project
 * one.
 */
export async function startRelayService(): Promise<RelayService> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-relay-'));
  const { key, cert } = await createCertificate();
  await Promise.all([writeFile(join(folder, 'key.pem'), key), writeFile(join(folder, 'cert.pem'), cert)]);
  const sink = await startSmtpSink({ keepBodies: true });
  const port = await findFreePort();
  const service = await startTestService({
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    SMTP_RELAY_PORT: String(port),
    TLS_CERT_FILE: join(folder, 'cert.pem'),
    TLS_KEY_FILE: join(folder, 'key.pem'),
  });
  const { publicKey } = await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test' });
  return {
    service,
    sink,
    port,
    publicKey,
    waitForEmails: (count = 1) =>
      until(async () => (sink.bodies.length >= count ? sink.bodies : undefined), `${count} emails`),
    close: async () => {
      await service.close();
      await sink.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
