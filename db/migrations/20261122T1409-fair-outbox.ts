import { type Kysely, sql } from 'kysely';

/**
 * Lets work wait in the outbox instead of in Temporal. Rows are claimed by priority, and from each project in turn.
 * Temporal gets only work that it starts soon. Rows that wait during the upgrade are claimed in the new order.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // taken_at: when the row was passed to Temporal, which has not confirmed its start yet.
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
