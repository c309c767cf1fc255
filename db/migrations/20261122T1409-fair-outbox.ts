import { type Kysely, sql } from 'kysely';

/**
 * The backlog is in the outbox, where rows are taken by kind and one project after the other. Temporal gets only the
 * work that it starts soon. Rows that wait during the upgrade are taken in the new order.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // taken_at: handed to Temporal, which has not confirmed the start.
  await sql`ALTER TABLE outbox ADD COLUMN priority smallint NOT NULL DEFAULT 4, ADD COLUMN taken_at timestamptz`.execute(
    db,
  );
  await sql`
    UPDATE outbox SET available_at = now(), priority = CASE
      WHEN kind = 'email.deliver' THEN 0
      WHEN kind = 'sms.deliver' THEN 1
      WHEN kind IN ('execution.event', 'execution.cancel', 'campaign.changed', 'webhook.deliver') THEN 2
      WHEN kind = 'execution.start' THEN 3
      ELSE 4 END`.execute(db);
  await sql`DROP INDEX outbox_available`.execute(db);
  await sql`CREATE INDEX outbox_turn ON outbox (priority, project_id, id)`.execute(db);
  await sql`CREATE INDEX outbox_ref ON outbox (ref_id)`.execute(db);
  await sql`CREATE INDEX outbox_taken ON outbox (taken_at) WHERE taken_at IS NOT NULL`.execute(db);
}
