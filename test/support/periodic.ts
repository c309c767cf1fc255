import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createRoundActivities, type PeriodicActivities } from '../../activities/periodic/rounds.ts';
import type { Db } from '../../db/connection.ts';
import { listPrunings } from '../../db/housekeeping/pruning.ts';
import { type Config, parseConfig, type Retention } from '../../rules/config.ts';
import type { PartInput, PartResult } from '../../rules/periodic-round.ts';
import type { PeriodicKind } from '../../rules/periodic-work.ts';

export const KEEP_ALL: Retention = {
  webhookDeliveryDays: 0,
  attachmentDays: 0,
  executionStepDays: 0,
  eventDays: 0,
  jobDays: 0,
  auditLogDays: 0,
  requestLogDays: 0,
};

/**
 * Prunes every table completely, one after the other, as a round does. If a variable sets the retention of a table, the
 * table keeps all rows unless `retention` has a value for it.
 */
export async function pruneTables(db: Db, retention: Partial<Retention> = {}): Promise<void> {
  const prunings = Object.values(listPrunings({ ...KEEP_ALL, ...retention }));
  for (const prune of prunings) await prune(db, { after: null, mayContinue: () => true });
}

/** The activities of periodic work on a database, without Temporal. */
export function createPeriodicActivities(db: Db, config?: Config): PeriodicActivities {
  const lifecycle = { readQueueStats: async () => [] };
  const deps = {
    db,
    outbox: { wake: () => {} },
    lifecycle,
    log: pino({ level: 'silent' }),
    config:
      config ??
      parseConfig({ DATABASE_URL: 'postgres://none', TEMPORAL_ADDRESS: 'none:1', SECRET_KEY: 'x'.repeat(32) }),
    bucket: undefined,
  };
  return createRoundActivities(deps as unknown as ActivityDeps);
}

/** Runs a part of periodic work as a worker does, in an environment that a test can cancel or observe. */
export function runPeriodicPart(
  activities: PeriodicActivities,
  input: Pick<PartInput, 'kind' | 'part'> & Partial<PartInput>,
  environment = new MockActivityEnvironment(),
): Promise<PartResult> {
  const fullInput = { since: new Date().toISOString(), cursor: null, deadlineMs: Date.now() + 60_000, ...input };
  return environment.run(activities.runPeriodicPart, fullInput);
}

/** Runs all parts of a kind to their end, one after the other. @returns their names */
export async function runPeriodicParts(activities: PeriodicActivities, kind: PeriodicKind): Promise<string[]> {
  const { round, parts } = await activities.listPeriodicParts({ kind });
  for (const part of parts) {
    const { cursor, failures } = await runPeriodicPart(activities, { kind, part, since: round.since });
    if (cursor !== null || failures.length > 0) throw new Error(`${part}: ${failures.join() || 'not finished'}`);
  }
  return parts;
}
