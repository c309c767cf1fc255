import { startApi } from '../api/server.ts';
import { requirePostgres } from './dependencies.ts';
import { requirePort } from './ports.ts';
import { runServiceProcess } from './service-process.ts';

// `npm run api`: one API process, configured by environment alone. It starts and accepts while Temporal is down.
await runServiceProcess('api', process.env, async (config, { log }) => {
  await requirePort('PORT', config.host, config.port);
  await requirePostgres(config.database.url);
  return startApi(config, { log });
});
