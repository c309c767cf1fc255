import { type Kysely, sql } from 'kysely';

/** Projects, users, sessions, keys and the audit log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE projects (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      name text NOT NULL,
      public_key text NOT NULL UNIQUE,
      public_key_hash bytea NOT NULL UNIQUE,
      tracking text NOT NULL DEFAULT 'ENABLED' CHECK (tracking IN ('ENABLED', 'MARKETING_ONLY', 'DISABLED')),
      send_rate_per_second int CHECK (send_rate_per_second > 0),
      monthly_email_limit int CHECK (monthly_email_limit >= 0),
      bounce_guard double precision NOT NULL DEFAULT 0.10,
      complaint_guard double precision NOT NULL DEFAULT 0.003,
      color text,
      held_at timestamptz,
      hold_reason text,
      disabled_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      email text NOT NULL UNIQUE,
      password_hash text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE memberships (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER')),
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, user_id)
    )`.execute(db);
  await sql`CREATE INDEX memberships_user ON memberships (user_id)`.execute(db);
  await sql`
    CREATE TABLE sessions (
      token_hash bytea PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    )`.execute(db);
  await sql`CREATE INDEX sessions_user ON sessions (user_id)`.execute(db);
  await sql`
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      key_hash bytea NOT NULL UNIQUE,
      prefix text NOT NULL,
      scopes text[] NOT NULL,
      mode text NOT NULL CHECK (mode IN ('live', 'test')),
      created_by uuid REFERENCES users ON DELETE SET NULL,
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX api_keys_project ON api_keys (project_id, id)`.execute(db);
  await sql`
    CREATE TABLE audit_log (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      action text NOT NULL,
      actor text NOT NULL,
      target text,
      ip text,
      details jsonb NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX audit_log_project ON audit_log (project_id, id)`.execute(db);
  await sql`
    CREATE TABLE login_failures (
      subject text NOT NULL,
      failed_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX login_failures_subject ON login_failures (subject, failed_at)`.execute(db);
  // One row per month, only for projects with a limit: see takeMonthlyAllowance in db/sending/monthly-usage.ts.
  await sql`
    CREATE TABLE monthly_usage (
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      month date NOT NULL,
      emails bigint NOT NULL,
      PRIMARY KEY (project_id, month)
    )`.execute(db);
  await sql`
    CREATE TABLE send_buckets (
      project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
      tokens double precision NOT NULL,
      refilled_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`.execute(db);
}
