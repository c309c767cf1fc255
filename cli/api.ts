import type { Config } from '../rules/config.ts';
import { thisRelease } from './release.ts';
import { requirePostgres } from './start/dependencies.ts';
import { exposureTable, listApiPorts } from './start/exposure.ts';
import { requireFile } from './start/files.ts';
import { requireInstallation } from './start/installation.ts';
import { requirePort } from './start/ports.ts';
import { runServiceProcess } from './start/service-process.ts';

// `npm run api`: runs one API process, configured by environment alone. It starts and accepts requests while Temporal
// is down.
await runServiceProcess('api', process.env, async (config, { log }) => {
  await requirePort('PORT', config.host, config.port);
  await requireMailListeners(config);
  await requirePostgres(config.database.url);
  // A child of `npm start` skips this check, because `npm start` has made it and told the user.
  await requireInstallation(config, {
    sends: false,
    tell: (line) => (process.send ? log.info(line) : log.warn(line)),
  });
  // Imported only here, so that invalid settings are reported before the imports, which take one second.
  const { startApi } = await import('../api/http/server.ts');
  const api = await startApi(config, { log, release: thisRelease() });
  // For a child of `npm start`, the parent prints the open ports.
  if (!process.send) for (const line of exposureTable(listApiPorts(config, api.port))) console.error(line);
  return api;
});

async function requireMailListeners({ host, inboundSmtpPort, smtpRelay, tls }: Config): Promise<void> {
  if (inboundSmtpPort !== undefined) await requirePort('INBOUND_SMTP_PORT', host, inboundSmtpPort);
  if (smtpRelay.port !== undefined) await requirePort('SMTP_RELAY_PORT', host, smtpRelay.port);
  if (tls.certFile) await requireFile('TLS_CERT_FILE', tls.certFile);
  if (tls.keyFile) await requireFile('TLS_KEY_FILE', tls.keyFile);
}
