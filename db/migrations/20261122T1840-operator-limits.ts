import { type Kysely, sql } from 'kysely';

/**
 * Stores the operator's limits and the project's limits in separate columns, so that neither overwrites the other. The
 * lower of the two applies (`effective_…`). Every statement reads the effective limit, except statements that show or
 * change one of the two.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE projects
      ADD COLUMN operator_send_rate_per_second int CHECK (operator_send_rate_per_second > 0),
      ADD COLUMN operator_monthly_email_limit int CHECK (operator_monthly_email_limit >= 0),
      ADD COLUMN operator_bounce_guard double precision CHECK (operator_bounce_guard > 0 AND operator_bounce_guard <= 1),
      ADD COLUMN operator_complaint_guard double precision CHECK (operator_complaint_guard > 0 AND operator_complaint_guard <= 1),
      ADD COLUMN operator_held_at timestamptz,
      ADD COLUMN operator_hold_reason text`.execute(db);
  // least() ignores NULL, which means no limit. The columns are virtual: no row is rewritten, and processes of the
  // earlier release continue to run.
  await sql`
    ALTER TABLE projects
      ADD COLUMN effective_send_rate_per_second int GENERATED ALWAYS AS (least(send_rate_per_second, operator_send_rate_per_second)) VIRTUAL,
      ADD COLUMN effective_monthly_email_limit int GENERATED ALWAYS AS (least(monthly_email_limit, operator_monthly_email_limit)) VIRTUAL,
      ADD COLUMN effective_bounce_guard double precision GENERATED ALWAYS AS (least(bounce_guard, operator_bounce_guard)) VIRTUAL,
      ADD COLUMN effective_complaint_guard double precision GENERATED ALWAYS AS (least(complaint_guard, operator_complaint_guard)) VIRTUAL,
      ADD COLUMN effective_held_at timestamptz GENERATED ALWAYS AS (coalesce(operator_held_at, held_at)) VIRTUAL,
      ADD COLUMN effective_hold_reason text GENERATED ALWAYS AS (coalesce(operator_hold_reason, hold_reason)) VIRTUAL`.execute(
    db,
  );
}
