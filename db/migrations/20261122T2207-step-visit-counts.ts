import { type Kysely, sql } from 'kysely';

/**
 * Number of visits to each step of a workflow, by the hour in which they started, by status and branch, so that
 * statistics over a million executions cost a few rows. Postgres counts in a trigger, whichever statement writes
 * visits. Each backend counts in rows of its own (`shard`), so that no two transactions wait for each other;
 * housekeeping adds up past hours. Erased or pruned visits stay counted.
 * An interrupted visit (CANCELLED) is not counted. Contacts at a step are found by their open visits, and partial
 * hours by the instants of visits.
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

/** Sandbox runs are not counted. A database without sandboxes has no such runs. */
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
  // Only a change of status counts. Erasing the data of a visit changes no counter.
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
