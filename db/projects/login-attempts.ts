import { sql } from 'kysely';
import { LimitReached } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';

/** After `limit` failures within the window, the subject must wait. */
export interface AttemptLimit {
  /** Keyed hash of an account, of a caller's address, or of both together. */
  subject: string;
  limit: number;
}

/** A recorded login attempt. The attempt counts as a failure until `undoLoginAttempt` deletes the record. */
export interface LoginAttempt {
  subjects: string[];
  /** When the attempt was recorded, as text from Postgres. This time identifies the rows of the attempt. */
  notedAt: string;
}

const WINDOW_MINUTES = 15;

/**
 * Records a login attempt as a failure before the password is checked, so that many concurrent attempts cannot exceed
 * the limit. After a correct password, `undoLoginAttempt` deletes the record. A lock for each subject ensures that no
 * other attempt is recorded between the count and the insert.
 * @throws AppError RATE_LIMIT_EXCEEDED with `Retry-After`
 */
export async function recordLoginAttempt(db: Db, limits: AttemptLimit[]): Promise<LoginAttempt> {
  const sorted = [...limits].sort((a, b) => (a.subject < b.subject ? -1 : 1));
  return db.transaction().execute(async (trx) => {
    for (const { subject, limit } of sorted) {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(trx);
      const { rows } = await sql<{ count: number; wait_seconds: number | null }>`
        SELECT count(*) AS count,
          ceil(extract(epoch FROM min(failed_at) + make_interval(mins => ${WINDOW_MINUTES}) - now()))::int AS wait_seconds
        FROM (SELECT failed_at FROM login_failures
          WHERE subject = ${subject} AND failed_at > now() - make_interval(mins => ${WINDOW_MINUTES})
          ORDER BY failed_at DESC LIMIT ${limit}) latest
      `.execute(trx);
      const [attempts] = rows;
      if (attempts && attempts.count >= limit) {
        const waitSeconds = attempts.wait_seconds ?? WINDOW_MINUTES * 60;
        throw new LimitReached({ message: 'Too many failed attempts to sign in.', retryAfterMs: waitSeconds * 1_000 });
      }
    }
    const subjects = sorted.map(({ subject }) => subject);
    const { rows } = await sql<{ notedAt: string }>`
      INSERT INTO login_failures (subject) SELECT unnest(${subjects}::text[]) RETURNING failed_at::text AS "notedAt"
    `.execute(trx);
    return { subjects, notedAt: rows[0]?.notedAt ?? '' };
  });
}

/**
 * Deletes exactly the rows that `recordLoginAttempt` inserted. A sign-in to one account of an address must not clear
 * the failures of another account with this address.
 */
export async function undoLoginAttempt(db: Db, { subjects, notedAt }: LoginAttempt): Promise<void> {
  await sql`
    DELETE FROM login_failures WHERE subject = ANY(${subjects}::text[]) AND failed_at = ${notedAt}::timestamptz
  `.execute(db);
}
