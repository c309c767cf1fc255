import type { Config } from '../rules/config.ts';
import { readOwnRelease } from './release.ts';
import { requirePostgres } from './start/dependencies.ts';
import { formatOpenPorts, listApiPorts } from './start/exposure.ts';
import { requireFile } from './start/files.ts';
import { requireInstallation } from './start/installation.ts';
import { requirePort } from './start/ports.ts';
import { runServiceProcess } from './start/service-process.ts';

// `npm run api`: runs one API process. Its settings are environment variables only. It starts and accepts requests even
// while Temporal is down.
await runServiceProcess('api', process.env, async (config, { log }) => {
  await requirePort('PORT', config.host, config.port);
  await requireMailListeners(config);
  await requirePostgres(config.database.url);
  // In a child of `npm start`, the log has the notice only as information, because `npm start` has already shown it to
  // the user.
  await requireInstallation(config, {
    sends: false,
    notifyOperator: (line) => (process.send ? log.info(line) : log.warn(line)),
  });
  // The modules are imported only here, because the imports take one second and invalid settings should be reported
  // first.
  const { startApi } = await import('../api/http/server.ts');
  const api = await startApi(config, { log, release: readOwnRelease() });
  // For a child of `npm start`, the parent process prints the open ports.
  if (!process.send) for (const line of formatOpenPorts(listApiPorts(config, api.port))) console.error(line);
  return api;
});

async function requireMailListeners({ host, inboundSmtpPort, smtpRelay, tls }: Config): Promise<void> {
  if (inboundSmtpPort !== undefined) await requirePort('INBOUND_SMTP_PORT', host, inboundSmtpPort);
  if (smtpRelay.port !== undefined) await requirePort('SMTP_RELAY_PORT', host, smtpRelay.port);
  if (tls.certFile) await requireFile('TLS_CERT_FILE', tls.certFile);
  if (tls.keyFile) await requireFile('TLS_KEY_FILE', tls.keyFile);
}
