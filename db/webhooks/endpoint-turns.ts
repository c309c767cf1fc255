import { sql } from 'kysely';
import { unsealSecret } from '../../rules/access/secrets.ts';
import { unsealUrl } from '../../rules/access/url-secrets.ts';
import { DEGRADED_AFTER_FAILURES, DISABLED_AFTER_DAYS, type EndpointVerdict } from '../../rules/webhooks/registry.ts';
import type { Db, Trx } from '../connection.ts';
import { isOutOfTime } from '../postgres-errors.ts';
import type { DeliveryStatus, EndpointStatus } from '../schema/webhooks.ts';
import { runWithinMs } from '../transaction.ts';
import { type EndpointRef, endpointSecretContext, endpointUrlContext } from './endpoints.ts';

/**
 * The maximum time for which a turn counts as running. A turn takes about 20 s at most. If the worker of a turn is
 * killed, Temporal starts another turn long before this time ends.
 */
const LEASE_SECONDS = 120;
/** Interval of probes of a degraded endpoint. A probe is one delivery; probes end with the first success. */
const PROBE_SECONDS = 60;
/**
 * The maximum wait for the lock that ends a turn. A continuous flow of events can delay this lock, because Postgres
 * grants the events' shared locks first. In that case deliveries are due anyway, so the worker starts another turn
 * instead of waiting longer.
 */
const END_LOCK_WAIT_MS = 500;
/** Maximum number of deliveries that one statement marks as failed, so that no statement holds locks for long. */
const GIVE_UP_PAGE = 5_000;

/**
 * One turn of an endpoint: the data for calling the endpoint, and the number of the turn. Results of a turn with an
 * older number are ignored.
 */
export interface EndpointTurn {
  projectId: string;
  endpointId: string;
  turn: number;
  /** The URL with its password. */
  url: string;
  status: EndpointStatus;
  failuresInRow: number;
  /** True if the endpoint is degraded and its next probe is not due yet. */
  paused: boolean;
  /** The secrets that sign deliveries, the current one first. */
  secrets: string[];
}

/**
 * Starts a turn. From now on, an earlier turn can record nothing, and new events for the endpoint need not wake it.
 * @returns undefined if the endpoint was deleted
 */
export async function startEndpointTurn(
  db: Db,
  { projectId, id, atRestKey }: EndpointRef & { atRestKey: Buffer },
): Promise<EndpointTurn | undefined> {
  const { rows } = await sql<
    Omit<EndpointTurn, 'projectId' | 'endpointId' | 'secrets'> & { sealed: string[]; urlSecret: string | null }
  >`
    UPDATE webhook_endpoints SET turn = turn + 1, wakes_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    WHERE project_id = ${projectId} AND id = ${id}
    RETURNING turn, url, url_secret AS "urlSecret", status, failures_in_row AS "failuresInRow",
      coalesce(status = 'DEGRADED' AND probe_at > clock_timestamp(), false) AS paused,
      array_remove(ARRAY[secret, CASE WHEN previous_until > now() THEN previous_secret END], NULL) AS sealed
  `.execute(db);
  const row = rows[0];
  if (!row) return undefined;
  const { sealed, urlSecret, ...turn } = row;
  const secrets = sealed.map((secret) => unsealSecret(atRestKey, endpointSecretContext(id), secret));
  const url = unsealUrl({ key: atRestKey, context: endpointUrlContext(id), url: turn.url, sealed: urlSecret });
  return { projectId, endpointId: id, ...turn, url, secrets };
}

export interface DueDelivery {
  id: string;
  /** Number of attempts that were made so far. */
  attempts: number;
  event: string;
  payload: Record<string, unknown>;
  createdAt: Date;
}

/**
 * Lists due deliveries of an endpoint, except those in progress. The delivery that has been due for the longest time
 * comes first. Uses the partial index `webhook_deliveries_due`.
 */
export async function listDueDeliveries(
  db: Db,
  p: { projectId: string; endpointId: string; underWay: string[]; limit: number },
): Promise<DueDelivery[]> {
  const { rows } = await sql<DueDelivery>`
    SELECT id, attempts, event_name AS event, payload, created_at AS "createdAt" FROM webhook_deliveries
    WHERE project_id = ${p.projectId} AND endpoint_id = ${p.endpointId} AND status = 'PENDING'
      AND next_attempt_at <= clock_timestamp() AND id <> ALL(${p.underWay}::uuid[])
    ORDER BY next_attempt_at, id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

export interface DeliveryAttempt {
  id: string;
  status: DeliveryStatus;
  responseStatus: number | null;
  /** The first kilobyte of the response. */
  responseBody: string | null;
  latencyMs: number;
  error: string | null;
  /** When the next attempt is due. Null unless the delivery stays PENDING. */
  nextAttemptAt: Date | null;
}

/**
 * Records the attempts of a turn in one statement.
 * @returns the endpoint's status, so that the turn stops if the endpoint was disabled. Undefined if nothing was
 * recorded, because another turn has started or the endpoint was deleted
 */
export async function recordAttempts(
  db: Db,
  p: { projectId: string; endpointId: string; turn: number; attempts: DeliveryAttempt[] },
): Promise<EndpointStatus | undefined> {
  const { attempts } = p;
  const { rows } = await sql<{ status: EndpointStatus }>`
    UPDATE webhook_deliveries d SET status = u.status, attempts = d.attempts + 1, response_status = u.response_status,
      response_body = u.response_body, latency_ms = u.latency_ms, error = u.error, next_attempt_at = u.next_attempt_at,
      completed_at = CASE WHEN u.status <> 'PENDING' THEN now() END
    FROM webhook_endpoints e, unnest(${attempts.map((a) => a.id)}::uuid[], ${attempts.map((a) => a.status)}::text[],
      ${attempts.map((a) => a.responseStatus)}::int[], ${attempts.map((a) => a.responseBody)}::text[], ${attempts.map((a) => a.latencyMs)}::int[],
      ${attempts.map((a) => a.error)}::text[], ${attempts.map((a) => a.nextAttemptAt)}::timestamptz[])
      AS u (id, status, response_status, response_body, latency_ms, error, next_attempt_at)
    WHERE d.id = u.id AND d.project_id = ${p.projectId} AND d.endpoint_id = ${p.endpointId} AND d.status = 'PENDING'
      AND e.project_id = ${p.projectId} AND e.id = ${p.endpointId} AND e.turn = ${p.turn}
    RETURNING e.status
  `.execute(db);
  return rows[0]?.status;
}

/**
 * Updates the status of an endpoint after attempts: a success makes it ACTIVE, consecutive failures make it DEGRADED,
 * and ten or more failures over days or a response 410 make it DISABLED.
 * @returns the status, and whether this call disabled the endpoint, so that the project's owners are notified once
 */
export async function updateEndpointStatus(
  trx: Trx,
  p: { projectId: string; endpointId: string; verdict: EndpointVerdict },
): Promise<{ status: EndpointStatus; justDisabled: boolean }> {
  const { succeeded, failures, gone } = p.verdict;
  const inRow = succeeded ? sql`${failures}::int` : sql`failures_in_row + ${failures}::int`;
  // Days without an event count too. A single failure after such days is therefore not enough.
  const tooLong = succeeded
    ? sql`false`
    : sql`failing_since < now() - make_interval(days => ${DISABLED_AFTER_DAYS}) AND ${inRow} >= ${DEGRADED_AFTER_FAILURES}`;
  const since = succeeded ? sql`now()` : sql`coalesce(failing_since, now())`;
  const { rows } = await sql<{ status: EndpointStatus }>`
    UPDATE webhook_endpoints SET failures_in_row = ${inRow}, failing_since = CASE WHEN ${failures} > 0 THEN ${since} END,
      status = CASE WHEN ${gone} OR ${tooLong} THEN 'DISABLED'
        WHEN ${inRow} >= ${DEGRADED_AFTER_FAILURES} THEN 'DEGRADED' ELSE 'ACTIVE' END,
      probe_at = CASE WHEN ${inRow} >= ${DEGRADED_AFTER_FAILURES}
        THEN clock_timestamp() + make_interval(secs => ${PROBE_SECONDS}) END,
      disabled_reason = CASE WHEN ${gone} THEN 'gone' WHEN ${tooLong} THEN 'failing' END,
      updated_at = CASE WHEN ${failures} > 0 THEN now() ELSE updated_at END
    WHERE project_id = ${p.projectId} AND id = ${p.endpointId} AND status <> 'DISABLED'
    RETURNING status
  `.execute(trx);
  const status = rows[0]?.status ?? 'DISABLED';
  return { status, justDisabled: rows.length > 0 && status === 'DISABLED' };
}

/** Marks a page of the pending deliveries of a disabled endpoint as failed. Returns the number of deliveries. */
export async function failPendingDeliveries(
  db: Db,
  p: { projectId: string; endpointId: string; error: string },
): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE webhook_deliveries SET status = 'FAILED', error = ${p.error}, next_attempt_at = NULL, completed_at = now()
    WHERE id IN (
      SELECT id FROM webhook_deliveries
      WHERE project_id = ${p.projectId} AND endpoint_id = ${p.endpointId} AND status = 'PENDING'
      ORDER BY id LIMIT ${GIVE_UP_PAGE} FOR UPDATE)
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** When the endpoint's next turn is due. */
export interface NextTurn {
  at: Date;
  /**
   * Milliseconds until the next turn; 0 if deliveries are due. Postgres computes this value, because it also decides
   * which deliveries are due.
   */
  waitMs: number;
}

/**
 * Locks an endpoint's row exclusively. Returns the time of the next probe if the endpoint is degraded, and undefined if
 * the endpoint was deleted. Returns 'busy' if a continuous flow of events delays the lock too long.
 */
async function lockEndpoint(
  trx: Trx,
  p: { projectId: string; endpointId: string },
): Promise<{ probeAt: Date | null } | 'busy' | undefined> {
  try {
    // lock_timeout cannot limit this wait, because it starts again with each lock that the statement waits for.
    return await runWithinMs(trx, END_LOCK_WAIT_MS, async () => {
      const { rows } = await sql<{ probeAt: Date | null }>`
        SELECT CASE WHEN status = 'DEGRADED' THEN probe_at END AS "probeAt" FROM webhook_endpoints
        WHERE project_id = ${p.projectId} AND id = ${p.endpointId} FOR UPDATE
      `.execute(trx);
      return rows[0];
    });
  } catch (error) {
    if (isOutOfTime(error)) return 'busy';
    throw error;
  }
}

/**
 * Ends a turn, unless deliveries are already due. A transaction that queues an event takes a shared lock on the
 * endpoint's row and then reads `wakes_at`. This function takes an exclusive lock. Each event is therefore either
 * visible here, or its transaction sees that it must wake the endpoint, so no event is lost.
 * @returns when the next turn is due; null when no delivery is pending
 */
export async function endEndpointTurn(
  trx: Trx,
  p: { projectId: string; endpointId: string; turn: number },
): Promise<NextTurn | null> {
  const locked = await lockEndpoint(trx, p);
  if (locked === 'busy') return { at: new Date(), waitMs: 0 };
  if (!locked) return null;
  const { probeAt } = locked;
  const { rows } = await sql<{ at: Date; waitMs: number; probing: boolean | null }>`
    SELECT at, greatest(0, ceil(extract(epoch FROM at - clock_timestamp()) * 1000))::int AS "waitMs",
      at = ${probeAt}::timestamptz AS probing
    FROM (SELECT greatest(next_attempt_at, ${probeAt}::timestamptz) AS at FROM webhook_deliveries
      WHERE project_id = ${p.projectId} AND endpoint_id = ${p.endpointId} AND status = 'PENDING'
      ORDER BY next_attempt_at LIMIT 1) AS next
  `.execute(trx);
  const next = rows[0];
  if (next?.waitMs === 0) return { at: next.at, waitMs: 0 };
  // If the next turn is the probe, new events do not wake the endpoint and wait for the probe. If a retry is due later
  // than the probe, or no retry is due, a new event wakes the endpoint.
  await sql`
    UPDATE webhook_endpoints SET wakes_at = ${next?.probing ? next.at : null}, probe_at = ${next ? probeAt : null}
    WHERE project_id = ${p.projectId} AND id = ${p.endpointId} AND turn = ${p.turn}
  `.execute(trx);
  return next ? { at: next.at, waitMs: next.waitMs } : null;
}
