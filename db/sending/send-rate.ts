import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';

/** The priorities under a project's send rate: single emails come first, then emails of workflows, then campaigns. */
export type SendOrder = 'single' | 'workflow' | 'campaign';

export interface TakenTokens {
  /** Number of emails that may be sent now. */
  granted: number;
  /** Time in milliseconds after which to request tokens for the remaining emails. 0 if no emails remain. */
  retryAfterMs: number;
}

/**
 * Capacity of a bucket, in seconds of sending. The capacity is large enough that short gaps between requests waste no
 * tokens. It is small enough that the minute after a pause gets the tokens of at most 61.1 seconds, 1.02 times the
 * limit.
 */
const CAPACITY_SECONDS = 1.1;
/**
 * The tokens of a new bucket, in seconds of sending. A new bucket has few tokens, but at least one, so that a single
 * email can be sent at once.
 */
const FIRST_SECONDS = 0.2;
/** Share of the bucket that campaigns do not take, so that a single email during a campaign gets a token at once. */
const KEPT_FOR_OTHERS = 0.1;
/**
 * Seconds of sending for which a caller with many emails waits between two requests. Longer waits would reduce
 * throughput, shorter waits would cost more queries.
 */
const WORTH_SECONDS = 0.25;
/**
 * How late a waiting caller may repeat its request before callers of lower priority get tokens. This time is less than
 * the bucket's capacity, so that no tokens are wasted if the caller does not return.
 */
const GRACE_MS = 500;
/**
 * A caller that gets no tokens stores a mark: the time until which it waits. A mark blocks lower priorities for at most
 * this time.
 */
const MARK_MAX_MS = 5_000;
/**
 * If the bucket is filled to this share, the stored queue of workflow emails is obsolete. Its emails must have been
 * cancelled, because otherwise they would have taken the tokens.
 */
const QUEUE_OBSOLETE_SHARE = 0.9;

/**
 * Takes up to `n` tokens from the project's bucket, which all workers share. Take tokens only for emails that are sent
 * at once, and return unused ones (`returnSendTokens`), because other emails wait for them. The bucket never has less
 * than 0 tokens. `ratePerSecond` 0 means no limit and needs no query. If a single email gets no token, this function
 * stores a mark: the time until which the email waits. Until that time, workflows and campaigns get no tokens. In the
 * same way, the mark of a workflow email that gets no token blocks campaigns. Marks expire automatically. Hundreds of
 * thousands of workflow emails may wait, each in its own Temporal workflow, so they form a queue. For workflow emails,
 * `retryAfterMs` corresponds to a position in the queue, and a new email joins at the end. If a single email took the
 * token of a waiting email, the waiting email moves to the end.
 * @param p.isRepeated true for a workflow email that got no token before and repeats its request after the returned
 * `retryAfterMs`
 */
export async function takeSendTokens(
  db: Db,
  p: { projectId: string; n: number; ratePerSecond: number; order: SendOrder; isRepeated?: boolean },
): Promise<TakenTokens> {
  if (p.ratePerSecond <= 0 || p.n <= 0) return { granted: Math.max(0, p.n), retryAfterMs: 0 };
  for (;;) {
    const { rows } = await takeFromBucketSql(p).execute(db);
    if (rows[0]) return rows[0];
    await insertBucket(db, p);
  }
}

/** Returns tokens that were taken and not used, because the worker is stopping or the emails may not be sent. */
export async function returnSendTokens(
  db: Db,
  { projectId, n, ratePerSecond }: { projectId: string; n: number; ratePerSecond: number },
): Promise<void> {
  if (ratePerSecond <= 0 || n <= 0) return;
  await sql`
    UPDATE send_buckets SET tokens = least(${computeCapacity(ratePerSecond)}::float8, tokens + ${n}::float8) WHERE project_id = ${projectId}
  `.execute(db);
}

/**
 * Returns the send rate of a project: the lower of the project's rate and the installation's rate. 0 means no limit.
 */
export async function getSendRate(db: Db, p: { projectId: string; installationRate: number }): Promise<number> {
  const { rows } = await sql<{ rate: number | null }>`
    SELECT effective_send_rate_per_second AS rate FROM projects WHERE id = ${p.projectId}
  `.execute(db);
  return chooseLowerRate(rows[0]?.rate ?? null, p.installationRate);
}

/**
 * Returns the lower of the project's rate (null means no limit) and the installation's rate (0 means no limit). A
 * result of 0 means no limit.
 */
export function chooseLowerRate(project: number | null, installation: number): number {
  const rates = [project ?? 0, installation].filter((rate) => rate > 0);
  return rates.length === 0 ? 0 : Math.min(...rates);
}

/**
 * Returns the size of the bucket in tokens. At a rate of 1 per second it has more than one token, for callers that
 * repeat their request late.
 */
function computeCapacity(ratePerSecond: number): number {
  return Math.max(1, ratePerSecond * CAPACITY_SECONDS);
}

/**
 * Returns the number of tokens that a caller of this order leaves for other email. Only campaigns leave tokens, and
 * only at rates from 4 per second on, because at lower rates they need all tokens.
 */
function tokensLeftForOthers(order: SendOrder, ratePerSecond: number): number {
  if (order !== 'campaign' || ratePerSecond < 4) return 0;
  return Math.max(1, Math.floor(ratePerSecond * KEPT_FOR_OTHERS));
}

async function insertBucket(db: Db, p: { projectId: string; ratePerSecond: number }): Promise<void> {
  await sql`
    INSERT INTO send_buckets (project_id, tokens, refilled_at)
    VALUES (${p.projectId}, ${Math.max(1, p.ratePerSecond * FIRST_SECONDS)}::float8, clock_timestamp()) ON CONFLICT DO NOTHING
  `.execute(db);
}

/**
 * The columns with the marks of each priority. `waitsFor` has the time until which emails of higher priorities wait.
 * `leaves` has the time until which emails of this priority wait; undefined for the lowest priority.
 */
const MARKS: Record<SendOrder, { waitsFor: RawBuilder<unknown>; leaves: RawBuilder<unknown> | undefined }> = {
  single: { waitsFor: sql.raw('NULL::timestamptz'), leaves: sql.raw('singles_wait_until') },
  workflow: { waitsFor: sql.raw('singles_wait_until'), leaves: sql.raw('workflows_wait_until') },
  campaign: { waitsFor: sql.raw('greatest(singles_wait_until, workflows_wait_until)'), leaves: undefined },
};

/**
 * Builds the statement that takes tokens. The lock of the bucket's row makes callers wait for each other. `now` may be
 * read before the lock is granted, so it can be earlier than the stored time; the statement then uses the stored time.
 * If less than a millionth of a token is missing, the token is granted, because of floating-point rounding.
 */
function takeFromBucketSql(p: {
  projectId: string;
  n: number;
  ratePerSecond: number;
  order: SendOrder;
  isRepeated?: boolean;
}) {
  const { waitsFor, leaves } = MARKS[p.order];
  const rate = sql`${p.ratePerSecond}::float8`;
  const kept = sql`${tokensLeftForOthers(p.order, p.ratePerSecond)}::float8`;
  const worth = Math.max(1, Math.ceil(p.ratePerSecond * WORTH_SECONDS));
  const waited = sql`least(${MARK_MAX_MS}::float8, missing / ${rate} * 1000 + ${GRACE_MS}::float8) * interval '1 ms'`;
  const mark = leaves
    ? sql`, ${leaves} = CASE WHEN missing > 0 THEN greatest(b.${leaves}, t.now + ${waited}) ELSE b.${leaves} END`
    : sql``;
  const queue = workflowQueueSql(p);
  return sql<TakenTokens>`
    WITH bucket AS MATERIALIZED (
      SELECT clock.now, ${waitsFor} AS blocked_until, workflow_line_at, least(${computeCapacity(p.ratePerSecond)}::float8,
        tokens + greatest(0, extract(epoch FROM clock.now - refilled_at)) * ${rate}) AS tokens
      FROM send_buckets, (SELECT clock_timestamp() AS now) clock
      WHERE project_id = ${p.projectId} FOR UPDATE OF send_buckets
    ), allowed AS (
      SELECT *, CASE WHEN blocked_until > now OR ${queue.behind} THEN 0
        ELSE least(${p.n}::float8, greatest(0, floor(tokens - ${kept} + 1e-6))) END AS granted
      FROM bucket
    ), t AS (
      SELECT *, ${p.n}::float8 - granted AS missing FROM allowed
    )
    UPDATE send_buckets b SET tokens = greatest(0, t.tokens - t.granted), refilled_at = greatest(b.refilled_at, t.now) ${mark} ${queue.moves}
    FROM t WHERE b.project_id = ${p.projectId}
    RETURNING t.granted::int AS granted, CASE WHEN t.missing = 0 THEN 0 ELSE ceil(greatest(1,
      (least(t.missing, ${worth}::float8) + ${kept} - t.tokens + t.granted) / ${rate} * 1000,
      extract(epoch FROM t.blocked_until - t.now) * 1000, ${queue.waitMs}))::int END AS "retryAfterMs"
  `;
}

/** Returns SQL for the queue in which workflow emails wait. Other priorities have no queue. */
function workflowQueueSql({
  order,
  ratePerSecond,
  isRepeated,
}: {
  order: SendOrder;
  ratePerSecond: number;
  isRepeated?: boolean;
}) {
  if (order !== 'workflow') return { behind: sql`false`, moves: sql``, waitMs: sql`0` };
  const rate = sql`${ratePerSecond}::float8`;
  const full = sql`${computeCapacity(ratePerSecond) * QUEUE_OBSOLETE_SHARE}::float8`;
  const end = sql`greatest(t.workflow_line_at, t.blocked_until, t.now)`;
  return {
    behind: isRepeated ? sql`false` : sql`(coalesce(workflow_line_at > now, false) AND tokens < ${full})`,
    moves: sql`, workflow_line_at = CASE
      WHEN t.missing > 0 THEN ${end} + t.missing / ${rate} * interval '1 s'
      WHEN t.tokens >= ${full} THEN NULL ELSE t.workflow_line_at END`,
    waitMs: sql`extract(epoch FROM ${end} - t.now + t.missing / ${rate} * interval '1 s') * 1000`,
  };
}
