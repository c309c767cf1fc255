import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../domain/errors.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { DEGRADED_AFTER_FAILURES, DISABLED_AFTER_DAYS, matchesEvent } from '../domain/webhook-registry.ts';
import { afterCursor, type Page, type PageRequest, toPage } from './keyset.ts';
import { enqueue } from './outbox.ts';
import type { RecordedEvent } from './record-events.ts';
import type { Database } from './schema.ts';
import type { EndpointRef, EndpointStatus } from './webhook-endpoints.ts';

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED';

export interface WebhookDelivery {
  id: string;
  eventId: string;
  event: string;
  status: DeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  latencyMs: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
  payload: Record<string, unknown>;
  createdAt: Date;
  completedAt: Date | null;
}

/**
 * Queues events for every endpoint that wants them, in the transaction that records them. The payload is what the contact and the
 * event are now: a delivery tried again tomorrow says the same.
 */
export async function queueDeliveries(
  trx: Transaction<Database>,
  projectId: string,
  events: RecordedEvent[],
): Promise<OutboxRow[]> {
  const { rows: endpoints } = await sql<{ id: string; events: string[] }>`
    SELECT id, events FROM webhook_endpoints WHERE project_id = ${projectId} AND status <> 'DISABLED'
  `.execute(trx);
  const wanted = endpoints.flatMap(({ id, events: patterns }) =>
    events
      .filter((event) => matchesEvent(patterns, event.name))
      .map((event) => ({ id: uuidv7(), endpointId: id, event })),
  );
  if (wanted.length === 0) return [];
  await sql`
    INSERT INTO webhook_deliveries (id, project_id, endpoint_id, event_id, event_name, payload)
    SELECT u.id, ${projectId}, u.endpoint_id, u.event_id, u.name, jsonb_build_object('event', u.data,
      'contact', CASE WHEN c.id IS NOT NULL THEN
        jsonb_build_object('id', c.id, 'email', c.email, 'subscribed', c.subscribed, 'data', c.data) END)
    FROM unnest(${wanted.map((w) => w.id)}::uuid[], ${wanted.map((w) => w.endpointId)}::uuid[],
      ${wanted.map((w) => w.event.id)}::uuid[], ${wanted.map((w) => w.event.name)}::text[],
      ${wanted.map((w) => JSON.stringify(w.event.data))}::jsonb[], ${wanted.map((w) => w.event.contactId)}::uuid[])
      AS u (id, endpoint_id, event_id, name, data, contact_id)
    LEFT JOIN contacts c ON c.project_id = ${projectId} AND c.id = u.contact_id
  `.execute(trx);
  return enqueueDeliveries(trx, projectId, wanted);
}

function enqueueDeliveries(
  trx: Transaction<Database>,
  projectId: string,
  deliveries: { id: string; endpointId: string }[],
): Promise<OutboxRow[]> {
  return enqueue(
    trx,
    deliveries.map(({ id, endpointId }) => ({
      projectId,
      kind: 'webhook.deliver' as const,
      refId: id,
      payload: { endpointId },
    })),
  );
}

export interface ClaimedDelivery {
  id: string;
  claim: number;
  attempts: number;
  event: string;
  payload: Record<string, unknown>;
  createdAt: Date;
}

/** Takes deliveries that are due, oldest first. The claim's number is the fence of their completion. */
export async function claimDeliveries(
  db: Kysely<Database>,
  p: { projectId: string; ids: string[]; limit: number },
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    UPDATE webhook_deliveries d SET claim = nextval('claims'), attempts = d.attempts + 1
    WHERE d.id IN (
      SELECT id FROM webhook_deliveries
      WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[]) AND status = 'PENDING'
        AND (next_attempt_at IS NULL OR next_attempt_at <= now())
      ORDER BY id LIMIT ${p.limit} FOR UPDATE SKIP LOCKED)
    RETURNING d.id, d.claim, d.attempts, d.event_name AS event, d.payload, d.created_at AS "createdAt"
  `.execute(db);
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export interface DeliveryResult {
  id: string;
  claim: number;
  status: DeliveryStatus;
  responseStatus: number | null;
  latencyMs: number;
  error: string | null;
  nextAttemptAt: Date | null;
}

/** Records one attempt; one whose claim was taken over meanwhile changes nothing. */
export async function completeDelivery(db: Kysely<Database>, projectId: string, r: DeliveryResult): Promise<void> {
  await sql`
    UPDATE webhook_deliveries SET status = ${r.status}, response_status = ${r.responseStatus}, latency_ms = ${r.latencyMs},
      error = ${r.error}, next_attempt_at = ${r.nextAttemptAt}, claim = NULL,
      completed_at = CASE WHEN ${r.status !== 'PENDING'} THEN now() END
    WHERE project_id = ${projectId} AND id = ${r.id} AND claim = ${r.claim}
  `.execute(db);
}

/** Puts off what a degraded endpoint has not been asked yet; it counts as no try. */
export async function deferDeliveries(
  db: Kysely<Database>,
  p: { projectId: string; ids: string[]; until: Date },
): Promise<void> {
  await sql`
    UPDATE webhook_deliveries SET next_attempt_at = ${p.until}
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[]) AND status = 'PENDING'
      AND (next_attempt_at IS NULL OR next_attempt_at < ${p.until})
  `.execute(db);
}

/** When the next of these is due; null when none is pending any more. A claim that a crash left behind is due at once. */
export async function findNextDue(db: Kysely<Database>, p: { projectId: string; ids: string[] }): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    SELECT min(coalesce(next_attempt_at, created_at)) AS at FROM webhook_deliveries
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[]) AND status = 'PENDING'
  `.execute(db);
  return rows[0]?.at ?? null;
}

/** Ends what is pending for an endpoint that is disabled or gone. */
export async function failPending(
  db: Kysely<Database>,
  p: { projectId: string; ids: string[]; error: string },
): Promise<void> {
  await sql`
    UPDATE webhook_deliveries SET status = 'FAILED', error = ${p.error}, next_attempt_at = NULL, claim = NULL, completed_at = now()
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[]) AND status = 'PENDING'
  `.execute(db);
}

/**
 * Judges an endpoint by one attempt: a success makes it ACTIVE, failures in a row DEGRADED, days of nothing else or a 410 DISABLED.
 * @returns its status, and whether this attempt disabled it (so that its owner is told once)
 */
export async function judgeEndpoint(
  trx: Kysely<Database>,
  p: EndpointRef & { outcome: 'success' | 'failure' | 'gone' },
): Promise<{ status: EndpointStatus; justDisabled: boolean }> {
  if (p.outcome === 'success') {
    await sql`
      UPDATE webhook_endpoints SET status = 'ACTIVE', failures_in_row = 0, failing_since = NULL
      WHERE project_id = ${p.projectId} AND id = ${p.id} AND status <> 'DISABLED' AND failures_in_row > 0
    `.execute(trx);
    return { status: 'ACTIVE', justDisabled: false };
  }
  const { rows } = await sql<{ status: EndpointStatus }>`
    UPDATE webhook_endpoints SET failures_in_row = failures_in_row + 1, failing_since = coalesce(failing_since, now()),
      status = CASE WHEN ${p.outcome === 'gone'} OR failing_since < now() - make_interval(days => ${DISABLED_AFTER_DAYS}) THEN 'DISABLED'
        WHEN failures_in_row + 1 >= ${DEGRADED_AFTER_FAILURES} THEN 'DEGRADED' ELSE status END,
      disabled_reason = CASE WHEN ${p.outcome === 'gone'} THEN 'gone'
        WHEN failing_since < now() - make_interval(days => ${DISABLED_AFTER_DAYS}) THEN 'failing' END,
      updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND status <> 'DISABLED'
    RETURNING status
  `.execute(trx);
  const status = rows[0]?.status ?? 'DISABLED';
  return { status, justDisabled: rows.length > 0 && status === 'DISABLED' };
}

const COLUMNS =
  sql.raw(`id, event_id AS "eventId", event_name AS event, status, attempts, response_status AS "responseStatus",
  latency_ms AS "latencyMs", error, next_attempt_at AS "nextAttemptAt", payload, created_at AS "createdAt",
  completed_at AS "completedAt"`);

/** Deliveries of an endpoint, newest first; `total` is counted on the first page only. */
export async function listDeliveries(
  db: Kysely<Database>,
  p: PageRequest & EndpointRef & { status?: DeliveryStatus | undefined },
): Promise<Page<WebhookDelivery> & { total: number }> {
  const found = sql`project_id = ${p.projectId} AND endpoint_id = ${p.id} ${p.status ? sql`AND status = ${p.status}` : sql``}`;
  const { rows } = await sql<WebhookDelivery>`
    SELECT ${COLUMNS} FROM webhook_deliveries WHERE ${found} AND ${afterCursor(p.cursor)}
    ORDER BY id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  return { ...toPage(rows, p.limit, (row) => row), total: p.cursor === undefined ? await countWhere(db, found) : 0 };
}

async function countWhere(db: Kysely<Database>, found: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM webhook_deliveries WHERE ${found}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

/** Deliveries of one call; the answer says where the next call goes on. */
const REPLAY_MAX = 10_000;

export interface Replay {
  ids: string[];
  outbox: OutboxRow[];
  /** Where a next call goes on; null when none is left. */
  nextSince: Date | null;
}

/**
 * Sends deliveries once more, with the `webhook-id` they had: one, or all since an instant (of a status, if given), oldest first. One
 * that waits for its next try goes out now; one that is under way at this moment is left as it is.
 * @throws AppError NOT_FOUND for an unknown delivery
 */
export async function replayDeliveries(
  trx: Transaction<Database>,
  p: EndpointRef & ({ deliveryId: string } | { since: Date; status?: DeliveryStatus | undefined }),
): Promise<Replay> {
  const which =
    'deliveryId' in p
      ? sql`id = ${p.deliveryId}`
      : sql`created_at >= ${p.since} ${p.status ? sql`AND status = ${p.status}` : sql``}`;
  const { rows } = await sql<{ id: string; createdAt: Date }>`
    UPDATE webhook_deliveries SET status = 'PENDING', attempts = 0, next_attempt_at = NULL, completed_at = NULL, claim = NULL
    WHERE id IN (
      SELECT id FROM webhook_deliveries
      WHERE project_id = ${p.projectId} AND endpoint_id = ${p.id} AND ${which}
        AND (status <> 'PENDING' OR next_attempt_at > now())
      ORDER BY created_at, id LIMIT ${REPLAY_MAX} FOR UPDATE)
    RETURNING id, created_at AS "createdAt"
  `.execute(trx);
  if ('deliveryId' in p && rows.length === 0) await requireDelivery(trx, p, p.deliveryId);
  const ids = rows.map((row) => row.id).sort();
  const groups = ids.map((id) => ({ id, endpointId: p.id }));
  return { ids, outbox: await enqueueDeliveries(trx, p.projectId, groups), nextSince: nextSince(rows) };
}

function nextSince(rows: { createdAt: Date }[]): Date | null {
  if (rows.length < REPLAY_MAX) return null;
  return new Date(Math.max(...rows.map((row) => row.createdAt.getTime())));
}

/** A delivery that is under way goes out without us. */
async function requireDelivery(trx: Transaction<Database>, p: EndpointRef, deliveryId: string): Promise<void> {
  const { rows } = await sql`
    SELECT 1 FROM webhook_deliveries WHERE project_id = ${p.projectId} AND endpoint_id = ${p.id} AND id = ${deliveryId}
  `.execute(trx);
  if (rows.length === 0) throw new AppError('NOT_FOUND');
}
