import { pino } from 'pino';
import { createApp } from '../api/http/app.ts';
import { createRateLimits } from '../api/http/rate-limits.ts';
import { EXAMPLE_ID } from '../api/http/schemas.ts';
import { createOpenApiDocument } from '../api/openapi/document.ts';
import { createCompute } from '../compute/compute.ts';
import { connect } from '../db/connection.ts';
import { parseConfig } from '../rules/config.ts';
import { toShortId } from '../rules/installation.ts';
import { InstallationNames } from '../temporal/names.ts';

// `npm run -s openapi > openapi.json`: prints the OpenAPI document, the same as `/openapi.json`. Needs no running
// service.
const connectionString = 'postgres://127.0.0.1:1/none';
const config = parseConfig({
  DATABASE_URL: connectionString,
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  SECRET_KEY: 'nothing is signed here',
});
// Connections are opened at their first use, and this command does not use them.
const { db, pool } = connect({ connectionString, max: 1, applicationName: 'openapi', onError: () => {} });
const app = createApp({
  config,
  db,
  reads: db,
  pool,
  compute: createCompute({ cpuMsPerSecond: 0 }),
  loop: { runAs: (_, work) => work(), noteResumed: () => {} },
  bucket: undefined,
  outbox: { wake: () => {} },
  lifecycle: {
    ping: async () => {},
    findRunId: async () => null,
    readQueueStats: async () => [],
    names: new InstallationNames({
      id: EXAMPLE_ID,
      shortId: toShortId(EXAMPLE_ID),
      legacyBefore: null,
      legacyClosedAt: null,
    }),
  },
  log: pino({ level: 'silent' }),
  keys: { find: async () => undefined, clear: () => {}, close: async () => {} },
  limits: createRateLimits({ db, perMinute: 0, publicPerMinute: 0, key: Buffer.alloc(0) }),
  backlog: async () => [],
  engagements: { add: () => {}, close: async () => {} },
  requests: { add: () => {}, close: async () => {} },
});
process.stdout.write(`${JSON.stringify(createOpenApiDocument(app), null, 2)}\n`);
