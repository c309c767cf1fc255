import { sql } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Db } from './connection.ts';

/** Failures that a subject may have in the window, before it must wait. */
export interface AttemptLimit {
  /** An account or a caller's address, as a keyed hash. */
  subject: string;
  limit: number;
}

/** Source: decisions §11. */
const WINDOW_MINUTES = 15;

/**
 * Counts an attempt to log in as a failure before the password is looked at, so that many at once do not all slip through;
 * `forgiveAttempt` takes it back. The lock makes counting and noting one step for each subject.
 * @throws AppError RATE_LIMIT_EXCEEDED with `Retry-After`
 */
export async function takeAttempt(db: Db, limits: AttemptLimit[]): Promise<void> {
  const sorted = [...limits].sort((a, b) => (a.subject < b.subject ? -1 : 1));
  await db.transaction().execute(async (trx) => {
    for (const { subject, limit } of sorted) {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(trx);
      const { rows } = await sql<{ count: number; wait_seconds: number | null }>`
        SELECT count(*) AS count,
          ceil(extract(epoch FROM min(failed_at) + make_interval(mins => ${WINDOW_MINUTES}) - now()))::int AS wait_seconds
        FROM (SELECT failed_at FROM login_failures
          WHERE subject = ${subject} AND failed_at > now() - make_interval(mins => ${WINDOW_MINUTES})
          ORDER BY failed_at DESC LIMIT ${limit}) latest
      `.execute(trx);
      const [standing] = rows;
      if (standing && standing.count >= limit) throw tooManyFailures(standing.wait_seconds ?? WINDOW_MINUTES * 60);
      await sql`INSERT INTO login_failures (subject) VALUES (${subject})`.execute(trx);
    }
  });
}

/** After a success: forgets the account's failures, and the one that was noted for the address. Old rows of all go with it. */
export async function forgiveAttempt(db: Db, p: { account: string; address: string }): Promise<void> {
  await sql`
    DELETE FROM login_failures WHERE subject = ${p.account}
      OR failed_at <= now() - make_interval(mins => ${WINDOW_MINUTES})
      OR ctid = (SELECT ctid FROM login_failures WHERE subject = ${p.address} ORDER BY failed_at DESC LIMIT 1)
  `.execute(db);
}

function tooManyFailures(waitSeconds: number): AppError {
  const seconds = Math.max(1, waitSeconds);
  return new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'Too many failed attempts to sign in.',
    details: { retryAfterSeconds: seconds },
    headers: { 'Retry-After': String(seconds) },
  });
}
