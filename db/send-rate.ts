import { sql } from 'kysely';
import type { Db } from './connection.ts';

/**
 * Takes `n` sends from the project's token bucket, over all workers, and answers how long to wait (milliseconds) before they may leave.
 * The bucket holds one second's worth and may go into debt: whoever takes has its turn, so nobody polls and turns come in order.
 * Take about a second's worth at a time. `ratePerSecond` 0 is no limit and costs nothing. Source: running.md `SEND_RATE_PER_SECOND`.
 */
export async function takeSendTokens(
  db: Db,
  projectId: string,
  n: number,
  ratePerSecond: number,
): Promise<{ waitMs: number }> {
  if (ratePerSecond <= 0 || n <= 0) return { waitMs: 0 };
  // excluded.refilled_at is the time before the row lock was had, so it may be older than what is stored: time never runs back here.
  const { rows } = await sql<{ tokens: number }>`
    INSERT INTO send_buckets AS b (project_id, tokens, refilled_at)
    VALUES (${projectId}, ${ratePerSecond}::float8 - ${n}::float8, clock_timestamp())
    ON CONFLICT (project_id) DO UPDATE SET
      tokens = least(${ratePerSecond}::float8,
        b.tokens + greatest(0, extract(epoch FROM excluded.refilled_at - b.refilled_at)) * ${ratePerSecond}::float8) - ${n}::float8,
      refilled_at = greatest(b.refilled_at, excluded.refilled_at)
    RETURNING tokens
  `.execute(db);
  const tokens = rows[0]?.tokens ?? 0;
  return { waitMs: tokens >= 0 ? 0 : Math.ceil((-tokens / ratePerSecond) * 1000) };
}

/** The rate that holds for a project: the lower of its own setting and the deployment's; 0 is none. */
export async function getSendRate(db: Db, projectId: string, deploymentRate: number): Promise<number> {
  const { rows } = await sql<{ rate: number | null }>`
    SELECT send_rate_per_second AS rate FROM projects WHERE id = ${projectId}
  `.execute(db);
  const rates = [rows[0]?.rate ?? 0, deploymentRate].filter((rate) => rate > 0);
  return rates.length === 0 ? 0 : Math.min(...rates);
}
