import { type Kysely, sql } from 'kysely';

/**
 * The ledger: every email and SMS has a row before anyone sends it. No index of `emails` may contain status, sent_at,
 * attempts or another column that changes, not even in its predicate. Such an index would prevent heap-only updates,
 * which give two thirds of the speed of campaigns. fillfactor 50 leaves space on each page for these updates. For the
 * same reason there are no foreign keys; db/contacts/contacts.ts and db/campaigns/campaigns.ts delete dependent rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE emails (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      contact_id uuid,
      content_id uuid NOT NULL,
      campaign_id uuid,
      execution_id uuid,
      visit int,
      source_type text NOT NULL CHECK (source_type IN ('TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND')),
      mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
      status text NOT NULL DEFAULT 'PENDING',
      to_email text,
      to_name text,
      variables jsonb,
      options jsonb,
      claim bigint,
      delivery_id uuid,
      attempts smallint NOT NULL DEFAULT 0,
      reason text,
      error text,
      bounce_type text,
      provider_message_id text,
      opens int NOT NULL DEFAULT 0,
      clicks int NOT NULL DEFAULT 0,
      machine_opens int NOT NULL DEFAULT 0,
      machine_clicks int NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      sent_at timestamptz,
      delivered_at timestamptz,
      opened_at timestamptz,
      clicked_at timestamptz,
      bounced_at timestamptz,
      complained_at timestamptz,
      unsubscribed_at timestamptz
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)`.execute(db);
  await sql`CREATE INDEX emails_project ON emails (project_id, id)`.execute(db);
  await sql`CREATE INDEX emails_contact ON emails (contact_id, id) WHERE contact_id IS NOT NULL`.execute(db);
  await sql`
    CREATE UNIQUE INDEX emails_campaign_contact ON emails (campaign_id, contact_id) WHERE campaign_id IS NOT NULL
  `.execute(db);
  await sql`
    CREATE UNIQUE INDEX emails_execution_visit ON emails (execution_id, visit) WHERE execution_id IS NOT NULL
  `.execute(db);
  // The numbers of claims of ledger rows. A result is recorded only if its claim number equals the claim number of the
  // row.
  await sql`CREATE SEQUENCE claims AS bigint CACHE 50`.execute(db);
  await sql`
    CREATE TABLE attachments (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      filename text NOT NULL,
      content_type text NOT NULL,
      disposition text NOT NULL DEFAULT 'attachment',
      content_id text,
      content bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE sms_messages (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      contact_id uuid,
      to_phone text NOT NULL,
      from_phone text NOT NULL,
      country text NOT NULL,
      body text NOT NULL,
      encoding text NOT NULL,
      segments int NOT NULL,
      mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
      status text NOT NULL DEFAULT 'PENDING',
      claim bigint,
      delivery_id uuid,
      attempts smallint NOT NULL DEFAULT 0,
      reason text,
      error text,
      provider_message_id text,
      created_at timestamptz NOT NULL DEFAULT now(),
      sent_at timestamptz,
      delivered_at timestamptz
    )`.execute(db);
  await sql`CREATE INDEX sms_messages_project ON sms_messages (project_id, id)`.execute(db);
  await sql`CREATE INDEX sms_messages_contact ON sms_messages (contact_id, id)`.execute(db);
  await sql`
    CREATE INDEX sms_messages_provider ON sms_messages (provider_message_id) WHERE provider_message_id IS NOT NULL
  `.execute(db);
  await sql`
    CREATE TABLE sms_senders (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      country text,
      from_phone text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT sms_senders_country UNIQUE NULLS NOT DISTINCT (project_id, country)
    )`.execute(db);
  // Messages of the capture providers, for the development mailbox. The records of messages are in emails and
  // sms_messages.
  await sql`
    CREATE TABLE captured_emails (
      id uuid PRIMARY KEY,
      from_email text NOT NULL,
      to_email text NOT NULL,
      raw bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX captured_emails_to ON captured_emails (to_email, id)`.execute(db);
  await sql`
    CREATE TABLE captured_sms (
      id uuid PRIMARY KEY,
      from_phone text NOT NULL,
      to_phone text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
