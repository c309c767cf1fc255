import { type Kysely, sql } from 'kysely';

/** Adds a small table that stores, for each SNS topic of Amazon SES, whether its messages arrive in a usable form. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE sns_subscriptions (
      topic text PRIMARY KEY,
      confirmed_at timestamptz,
      notified_at timestamptz,
      refused_at timestamptz
    )`.execute(db);
}
