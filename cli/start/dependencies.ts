import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pendingMigrations } from '../../db/migrator.ts';
import type { Config } from '../../rules/config.ts';
import { temporalConnectionOptions } from '../../temporal/connection.ts';
import { reasonOf } from '../database-error.ts';
import { StartError } from './error.ts';

/** A dependency that is being restarted beside us is back by then. */
const PATIENCE_MS = 10_000;
const ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;

/**
 * Waits a little for Postgres to take connections.
 * @throws StartError in one line with host and reason, or when the database waits for migrations
 */
export async function requirePostgres(databaseUrl: string): Promise<void> {
  const { host } = new URL(databaseUrl);
  await patiently(`Postgres at ${host} cannot be reached`, 'check DATABASE_URL and that the server runs', async () => {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: ATTEMPT_MS });
    client.on('error', () => {});
    try {
      await client.connect();
    } finally {
      await client.end().catch(() => {});
    }
  });
  if ((await pendingMigrations(databaseUrl)).length === 0) return;
  throw new StartError(
    `The database at ${host} waits for migrations: run "npm run migrate" with this DATABASE_URL first.`,
  );
}

/**
 * Waits a little for Temporal to answer.
 * @throws StartError in one line with address and reason
 */
export async function requireTemporal(temporal: Config['temporal']): Promise<void> {
  const { Connection } = await import('@temporalio/client');
  const how = 'check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and that the server runs';
  await patiently(`Temporal at ${temporal.address} cannot be reached`, how, async () => {
    const connection = Connection.lazy({ ...temporalConnectionOptions(temporal), connectTimeout: ATTEMPT_MS });
    try {
      await connection.withDeadline(Date.now() + ATTEMPT_MS, () =>
        connection.workflowService.describeNamespace({ namespace: temporal.namespace }),
      );
    } finally {
      await connection.close();
    }
  });
}

async function patiently(what: string, how: string, attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (true) {
    try {
      return await attempt();
    } catch (cause) {
      if (Date.now() >= deadline) throw new StartError(`${what} (${reasonOf(cause)}): ${how}.`, { cause });
      await sleep(PAUSE_MS);
    }
  }
}
