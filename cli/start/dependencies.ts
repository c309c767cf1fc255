import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { listPendingMigrations } from '../../db/migrator.ts';
import type { Config } from '../../rules/config.ts';
import { buildTemporalConnectionOptions } from '../../temporal/connection.ts';
import { findInnermostReason } from '../database-error.ts';
import { StartError } from './error.ts';

/**
 * How long the start waits for Postgres and Temporal. If they are being restarted at the same time, they are usually
 * available again within this time.
 */
const PATIENCE_MS = 10_000;
const ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;

/**
 * Waits up to `PATIENCE_MS` for Postgres to accept connections, and checks that the database has no pending migrations.
 * @throws StartError with a one-line message that names the host and the reason
 */
export async function requirePostgres(databaseUrl: string): Promise<void> {
  const { host } = new URL(databaseUrl);
  await retryUntilReached(
    `Postgres at ${host} cannot be reached`,
    'check DATABASE_URL and that the server runs',
    async () => {
      const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: ATTEMPT_MS });
      client.on('error', () => {});
      try {
        await client.connect();
      } finally {
        await client.end().catch(() => {});
      }
    },
  );
  if ((await listPendingMigrations(databaseUrl)).length === 0) return;
  throw new StartError(
    `The database at ${host} has pending migrations: run "npm run migrate" with this DATABASE_URL first.`,
  );
}

/**
 * Waits up to `PATIENCE_MS` for Temporal to respond.
 * @throws StartError with a one-line message that names address and reason
 */
export async function requireTemporal(temporal: Config['temporal']): Promise<void> {
  const { Connection } = await import('@temporalio/client');
  const how = 'check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and that the server runs';
  await retryUntilReached(`Temporal at ${temporal.address} cannot be reached`, how, async () => {
    const connection = Connection.lazy({ ...buildTemporalConnectionOptions(temporal), connectTimeout: ATTEMPT_MS });
    try {
      await connection.withDeadline(Date.now() + ATTEMPT_MS, () =>
        connection.workflowService.describeNamespace({ namespace: temporal.namespace }),
      );
    } finally {
      await connection.close();
    }
  });
}

async function retryUntilReached(what: string, how: string, attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (true) {
    try {
      return await attempt();
    } catch (cause) {
      if (Date.now() >= deadline) throw new StartError(`${what} (${findInnermostReason(cause)}): ${how}.`, { cause });
      await sleep(PAUSE_MS);
    }
  }
}
