import { type Kysely, sql } from 'kysely';

/**
 * The number of visits to each step of a workflow, by the hour in which they started, status and branch. Statistics
 * over a million executions thus read only a few rows. A trigger counts, so every statement that writes visits is
 * counted. Each Postgres backend counts in separate rows (`shard`), so that transactions do not wait for each other;
 * pruning merges the rows of past hours. Visits that were erased or pruned stay counted. Visits that were interrupted
 * (CANCELLED) are not counted. The contacts at a step are read from the open visits, and partial hours from the times
 * of visits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE step_visit_counts (
      step_id uuid NOT NULL,
      hour int NOT NULL,
      branch text NOT NULL,
      shard int NOT NULL,
      project_id uuid NOT NULL,
      waiting bigint NOT NULL,
      running bigint NOT NULL,
      completed bigint NOT NULL,
      failed bigint NOT NULL,
      skipped bigint NOT NULL,
      PRIMARY KEY (step_id, hour, branch, shard)
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`CREATE INDEX step_visit_counts_shards ON step_visit_counts (hour) WHERE shard <> 0`.execute(db);
  await sql`
    CREATE INDEX execution_steps_open ON execution_steps (step_id, execution_id) WHERE completed_at IS NULL
  `.execute(db);
  await sql`CREATE INDEX execution_steps_started ON execution_steps (step_id, started_at)`.execute(db);
  const counted = await selectCountedRows(db);
  await createCounting(db, counted);
  await sql`
    INSERT INTO step_visit_counts (step_id, hour, branch, shard, project_id, waiting, running, completed, failed, skipped)
    SELECT step_id, hour, branch, 0, project_id, ${sums}
    FROM (SELECT v.project_id, v.step_id, ${hourOf}, ${branchOf}, v.status, 1 AS n FROM execution_steps v ${counted}) m
    WHERE status <> 'CANCELLED' GROUP BY project_id, step_id, hour, branch
  `.execute(db);
}

const hourOf = sql`floor(extract(epoch FROM v.started_at) / 3600)::int AS hour`;
const branchOf = sql`coalesce(v.output->>'branch', '') AS branch`;
const sums = sql`
  coalesce(sum(n) FILTER (WHERE status = 'WAITING'), 0), coalesce(sum(n) FILTER (WHERE status = 'RUNNING'), 0),
  coalesce(sum(n) FILTER (WHERE status = 'COMPLETED'), 0), coalesce(sum(n) FILTER (WHERE status = 'FAILED'), 0),
  coalesce(sum(n) FILTER (WHERE status = 'SKIPPED'), 0)`;

/**
 * Returns the JOIN clause that excludes visits of sandbox executions. If the database has no column for sandboxes yet,
 * there are no sandbox executions to exclude.
 */
async function selectCountedRows(db: Kysely<unknown>) {
  const { rows } = await sql`
    SELECT FROM pg_attribute WHERE attrelid = 'executions'::regclass AND attname = 'sandbox' AND NOT attisdropped
  `.execute(db);
  return rows.length === 0 ? sql`` : sql`JOIN executions x ON x.id = v.execution_id AND NOT x.sandbox`;
}

async function createCounting(db: Kysely<unknown>, counted: ReturnType<typeof sql>): Promise<void> {
  const add = (moved: ReturnType<typeof sql>) => sql`
    INSERT INTO step_visit_counts AS c
      (step_id, hour, branch, shard, project_id, waiting, running, completed, failed, skipped)
    SELECT step_id, hour, branch, pg_backend_pid(), project_id, ${sums}
    FROM (${moved}) m WHERE status <> 'CANCELLED' GROUP BY project_id, step_id, hour, branch ORDER BY step_id, hour, branch
    ON CONFLICT (step_id, hour, branch, shard) DO UPDATE SET waiting = c.waiting + excluded.waiting, running = c.running + excluded.running,
      completed = c.completed + excluded.completed, failed = c.failed + excluded.failed, skipped = c.skipped + excluded.skipped`;
  await sql`
    CREATE FUNCTION count_begun_visits() RETURNS trigger LANGUAGE plpgsql AS $count$
    BEGIN
      ${add(sql`SELECT v.project_id, v.step_id, ${hourOf}, ${branchOf}, v.status, 1 AS n FROM begun v ${counted}`)};
      RETURN NULL;
    END $count$`.execute(db);
  // Only a change of the status changes a counter. The erasure of a visit's data changes no counter.
  await sql`
    CREATE FUNCTION count_moved_visits() RETURNS trigger LANGUAGE plpgsql AS $count$
    BEGIN
      ${add(sql`
        SELECT v.project_id, v.step_id, ${hourOf}, ${branchOf}, v.status, -1 AS n
        FROM before v JOIN after a ON a.execution_id = v.execution_id AND a.visit = v.visit AND a.status <> v.status ${counted}
        UNION ALL
        SELECT v.project_id, v.step_id, ${hourOf}, ${branchOf}, v.status, 1 AS n
        FROM after v JOIN before b ON b.execution_id = v.execution_id AND b.visit = v.visit AND b.status <> v.status ${counted}`)};
      RETURN NULL;
    END $count$`.execute(db);
  await sql`
    CREATE TRIGGER count_begun AFTER INSERT ON execution_steps REFERENCING NEW TABLE AS begun
    FOR EACH STATEMENT EXECUTE FUNCTION count_begun_visits()`.execute(db);
  await sql`
    CREATE TRIGGER count_moved AFTER UPDATE ON execution_steps REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION count_moved_visits()`.execute(db);
  await sql`
    CREATE FUNCTION forget_visit_counts() RETURNS trigger LANGUAGE plpgsql AS $forget$
    BEGIN
      DELETE FROM step_visit_counts WHERE step_id = OLD.id;
      RETURN NULL;
    END $forget$`.execute(db);
  await sql`
    CREATE TRIGGER forget_counts AFTER DELETE ON workflow_steps
    FOR EACH ROW EXECUTE FUNCTION forget_visit_counts()`.execute(db);
}
