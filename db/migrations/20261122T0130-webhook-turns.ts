import { type Kysely, sql } from 'kysely';

/**
 * Allows one turn at a time for each webhook endpoint. Adds the number of the turn, which makes results of older turns
 * invalid. Also adds the time until which new events need not wake the endpoint, and the time of its next probe.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE webhook_endpoints
      ADD COLUMN turn bigint NOT NULL DEFAULT 0,
      ADD COLUMN wakes_at timestamptz,
      ADD COLUMN probe_at timestamptz`.execute(db);
  // Only the current turn sends the pending deliveries of its endpoint, so a single delivery needs no claim.
  await sql`ALTER TABLE webhook_deliveries DROP COLUMN claim, ALTER COLUMN next_attempt_at SET DEFAULT now()`.execute(
    db,
  );
  await sql`
    UPDATE webhook_deliveries SET next_attempt_at = created_at WHERE status = 'PENDING' AND next_attempt_at IS NULL
  `.execute(db);
  await sql`
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at, id) WHERE status = 'PENDING'
  `.execute(db);
}
