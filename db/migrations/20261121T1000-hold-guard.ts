import { type Kysely, sql } from 'kysely';

/**
 * Counters that decide whether a project is put on hold. The counters are separate from the ledger, because no index
 * may contain the ledger's columns that change. `send_outcomes` counts by hour. `slot` divides the counts of an hour
 * among several rows, so that processes do not wait for each other's commits. `provider_outcomes` has one character for
 * each of the last emails to a mailbox provider, oldest first: `1` for an email refused because of the sender, `0` for
 * any other email. A row is created by the first refusal by a mailbox provider, because the characters of earlier
 * emails would all be zeros.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE send_outcomes (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      hour timestamptz NOT NULL,
      slot smallint NOT NULL,
      mails int NOT NULL DEFAULT 0,
      dead int NOT NULL DEFAULT 0,
      complaints int NOT NULL DEFAULT 0,
      PRIMARY KEY (project_id, hour, slot)
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`
    CREATE TABLE provider_outcomes (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      provider text NOT NULL,
      recent text NOT NULL,
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, provider)
    ) WITH (fillfactor = 50)`.execute(db);
}
