import { requirePostgres } from './dependencies.ts';
import { requirePort } from './ports.ts';
import { runServiceProcess } from './service-process.ts';

// `npm run api`: one API process, configured by environment alone. It starts and accepts while Temporal is down.
await runServiceProcess('api', process.env, async (config, { log }) => {
  await requirePort('PORT', config.host, config.port);
  if (config.inboundSmtpPort) await requirePort('INBOUND_SMTP_PORT', config.host, config.inboundSmtpPort);
  await requirePostgres(config.database.url);
  // Only now: settings that cannot be used are told before a second of imports.
  const { startApi } = await import('../api/server.ts');
  return startApi(config, { log });
});
