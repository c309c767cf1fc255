import { startApi } from '../api/server.ts';
import type { Environment } from '../domain/config.ts';
import { requirePostgres } from './dependencies.ts';
import { freePort } from './ports.ts';
import { runServiceProcess } from './service-process.ts';

// `npm run api`: one API process, configured by environment alone. It starts and accepts while Temporal is down.
await runServiceProcess({
  name: 'api',
  env: await withPort(process.env),
  start: async (config, { log }) => {
    await requirePostgres(config.database.url);
    const api = await startApi(config, { log });
    log.info({ port: api.port }, `listening on ${config.host}:${api.port}`);
    return api;
  },
});

/** PORT=0 takes a free port before the settings are read, for the addresses in links come from it too. */
async function withPort(env: Environment): Promise<Environment> {
  return env.PORT?.trim() === '0' ? { ...env, PORT: String(await freePort(env.HOST || undefined)) } : env;
}
