import { sql } from 'kysely';
import { AppError, createFieldError } from '../../rules/errors.ts';
import type { Trx } from '../connection.ts';

/** The maximum number of a project's records of each kind. These limits keep lists and scans of all records fast. */
const MAX_RECORDS = { segments: 500, templates: 1_000, topics: 100, workflows: 500 } as const;

/** Maximum number of steps per workflow, far more than a user creates. */
const MAX_STEPS = 500;
/**
 * Maximum total size of a workflow's step configs in bytes. API responses contain all step configs of a workflow, and
 * each execution reads them.
 */
const CONFIGS_MAX_BYTES = 3 * 1024 * 1024;

/**
 * Throws if a workflow would exceed its limits with these configs. The caller has locked the workflow.
 * @param p.written the configs to write, with ids of new steps or of existing steps whose config is replaced
 * @throws AppError CONFLICT when the workflow would have too many steps, VALIDATION_ERROR when its configs together
 * would be too large
 */
export async function assertStepQuota(
  trx: Trx,
  p: { projectId: string; workflowId: string; written: { id: string; config: unknown }[] },
): Promise<void> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    SELECT count(*) AS count, coalesce(sum(octet_length(config::text)), 0)::int AS bytes FROM workflow_steps
    WHERE project_id = ${p.projectId} AND workflow_id = ${p.workflowId} AND id <> ALL(${p.written.map(({ id }) => id)}::uuid[])
  `.execute(trx);
  const { count, bytes } = rows[0] ?? { count: 0, bytes: 0 };
  if (count + p.written.length > MAX_STEPS) {
    throw new AppError('CONFLICT', {
      message: `A workflow has at most ${MAX_STEPS} steps.`,
      details: { count, most: MAX_STEPS },
      suggestion: 'Let it end with an event that starts another workflow.',
    });
  }
  const added = p.written.reduce((sum, { config }) => sum + Buffer.byteLength(JSON.stringify(config)), 0);
  if (bytes + added > CONFIGS_MAX_BYTES) {
    const message = `The configs of a workflow's steps are at most ${CONFIGS_MAX_BYTES / 1024 / 1024} MB together.`;
    throw createFieldError('config', message, 'too_big');
  }
}

/**
 * Throws if a project may not have one more record. Takes a lock until the transaction ends, so that two concurrent
 * callers cannot both create the last allowed record.
 * @throws AppError CONFLICT when the project has reached its limit
 */
export async function assertQuota(trx: Trx, p: { projectId: string; table: keyof typeof MAX_RECORDS }): Promise<void> {
  const { projectId, table } = p;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`room:${table}:${projectId}`}, 0))`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM ${sql.table(table)} WHERE project_id = ${projectId}
  `.execute(trx);
  const count = rows[0]?.count ?? 0;
  if (count < MAX_RECORDS[table]) return;
  throw new AppError('CONFLICT', {
    message: `A project has at most ${MAX_RECORDS[table]} ${table}.`,
    details: { count, most: MAX_RECORDS[table] },
    suggestion: `Delete unused ${table} first.`,
  });
}
