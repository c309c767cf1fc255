import { sql } from 'kysely';
import type { Db } from './connection.ts';

/**
 * The number of requests that the caller may make now, and the state of the window. `resetMs` is the time until the
 * window ends, in milliseconds.
 */
export interface RateGrant {
  granted: number;
  /** The number that all processes together have taken from this window. */
  taken: number;
  resetMs: number;
}

/**
 * Takes up to `want` of the `limit` requests that a subject (such as a project or an IP address) may make in a window
 * of `windowSeconds`. All processes share the window's row, and the row lock makes them take requests one after
 * another. A window starts with its first request. Postgres measures the time, so it does not matter if the times of
 * the hosts differ.
 */
export async function takeFromRateWindow(
  db: Db,
  p: { subject: string; want: number; limit: number; windowSeconds: number },
): Promise<RateGrant> {
  const { rows } = await sql<{ granted: number; taken: number; reset_ms: number }>`
    INSERT INTO rate_windows AS w (subject, taken, started_at)
    VALUES (${p.subject}, least(${p.want}::int, ${p.limit}::int), clock_timestamp())
    ON CONFLICT (subject) DO UPDATE SET
      taken = CASE WHEN w.started_at <= clock_timestamp() - make_interval(secs => ${p.windowSeconds})
        THEN excluded.taken ELSE greatest(w.taken, least(w.taken::bigint + excluded.taken, ${p.limit}::int))::int END,
      started_at = CASE WHEN w.started_at <= clock_timestamp() - make_interval(secs => ${p.windowSeconds})
        THEN excluded.started_at ELSE w.started_at END
    RETURNING new.taken,
      new.taken - CASE WHEN old.started_at IS NOT DISTINCT FROM new.started_at THEN old.taken ELSE 0 END AS granted,
      greatest(0, ceil(1000 * extract(epoch FROM new.started_at + make_interval(secs => ${p.windowSeconds}) - clock_timestamp())))::int
        AS reset_ms
  `.execute(db);
  const row = rows[0];
  if (!row) throw new Error('a rate window returned no row');
  return { granted: row.granted, taken: row.taken, resetMs: row.reset_ms };
}

/**
 * Deletes windows that started more than an hour ago, because no window is longer. Returns the number of deleted
 * windows.
 */
export async function deleteOldRateWindows(db: Db): Promise<number> {
  const result = await sql`DELETE FROM rate_windows WHERE started_at < now() - interval '1 hour'`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
