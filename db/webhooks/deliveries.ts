import { type RawBuilder, sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { matchesEvent } from '../../rules/webhooks/registry.ts';
import type { Db, Trx } from '../connection.ts';
import type { SubscribedEndpoint } from '../events/listeners.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { enqueue } from '../outbox/outbox.ts';
import type { DeliveryStatus } from '../schema/webhooks.ts';
import type { EndpointRef } from './endpoints.ts';

export interface WebhookDelivery {
  id: string;
  eventId: string;
  event: string;
  status: DeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  /** The first kilobyte of the endpoint's last response. */
  responseBody: string | null;
  latencyMs: number | null;
  error: string | null;
  nextAttemptAt: Date | null;
  payload: Record<string, unknown>;
  createdAt: Date;
  completedAt: Date | null;
}

interface DeliveredEvent {
  id: string;
  name: string;
  contactId: string | null;
  data: Record<string, unknown>;
}

/**
 * Queues events for each endpoint that subscribes to them, in the transaction that records the events. The payload is a
 * snapshot of the contact and the event, so a later retry sends the same payload.
 */
export async function queueDeliveries(
  trx: Trx,
  p: { projectId: string; events: DeliveredEvent[]; endpoints: SubscribedEndpoint[] },
): Promise<OutboxRow[]> {
  const { projectId, events, endpoints } = p;
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
  return wakeEndpoints(trx, { projectId, endpointIds: [...new Set(wanted.map((w) => w.endpointId))] });
}

/**
 * Inserts one outbox row per endpoint, for any number of deliveries. If a turn of an endpoint is running or its next
 * probe is scheduled, its workflow checks for deliveries anyway, so it gets no row. Reads the endpoint after the
 * deliveries are inserted: the foreign key of a delivery takes a shared lock on the row of its endpoint (see
 * `endEndpointTurn` in db/webhooks/endpoint-turns.ts).
 */
async function wakeEndpoints(trx: Trx, p: { projectId: string; endpointIds: string[] }): Promise<OutboxRow[]> {
  const { projectId, endpointIds } = p;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM webhook_endpoints WHERE project_id = ${projectId} AND id = ANY(${endpointIds}::uuid[])
      AND (wakes_at IS NULL OR wakes_at <= clock_timestamp())
  `.execute(trx);
  return enqueue(
    trx,
    rows.map(({ id }) => ({ projectId, kind: 'webhook.deliver' as const, refId: id, payload: { endpointId: id } })),
  );
}

const COLUMNS =
  sql.raw(`id, event_id AS "eventId", event_name AS event, status, attempts, response_status AS "responseStatus",
  response_body AS "responseBody", latency_ms AS "latencyMs", error, payload, created_at AS "createdAt",
  completed_at AS "completedAt"`);

/** Lists deliveries of an endpoint, newest first. `total` is 0 on later pages. */
export async function listDeliveries(
  db: Db,
  p: PageRequest & EndpointRef & { status?: DeliveryStatus | undefined },
): Promise<Page<WebhookDelivery> & { total: number }> {
  const found = sql`project_id = ${p.projectId} AND endpoint_id = ${p.id} ${p.status ? sql`AND status = ${p.status}` : sql``}`;
  // If the endpoint is degraded, no delivery is attempted before its next probe.
  const { rows } = await sql<WebhookDelivery>`
    SELECT ${COLUMNS}, CASE WHEN status = 'PENDING' THEN greatest(next_attempt_at, (
      SELECT e.probe_at FROM webhook_endpoints e WHERE e.id = ${p.id} AND e.status = 'DEGRADED')) END AS "nextAttemptAt"
    FROM webhook_deliveries WHERE ${found} AND ${afterCursorSql(p.cursor)}
    ORDER BY id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  const page = toPage(rows, p.limit, (row) => row);
  return { ...page, total: p.cursor === undefined ? await countDeliveries(db, found) : 0 };
}

async function countDeliveries(db: Db, found: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM webhook_deliveries WHERE ${found}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

/** Maximum number of deliveries per call. `nextSince` in the result is the start for the next call. */
const REPLAY_MAX = 10_000;

export interface Replay {
  count: number;
  outbox: OutboxRow[];
  /** The instant with which to make the next call. Null when no deliveries remain. */
  nextSince: Date | null;
}

/**
 * Sends deliveries again with their original `webhook-id`, oldest first: one delivery, or all deliveries since an
 * instant, optionally only those with a status. A delivery that waits for its next attempt is sent now. A delivery that
 * is due or in progress does not change. A delivery whose contact was erased has no payload and is not sent.
 * @throws AppError NOT_FOUND for an unknown delivery; CONFLICT for a delivery whose contact was erased
 */
export async function replayDeliveries(
  trx: Trx,
  p: EndpointRef & ({ deliveryId: string } | { since: Date; status?: DeliveryStatus | undefined }),
): Promise<Replay> {
  const which =
    'deliveryId' in p
      ? sql`id = ${p.deliveryId}`
      : sql`created_at >= ${p.since} ${p.status ? sql`AND status = ${p.status}` : sql``}`;
  const { rows } = await sql<{ id: string; createdAt: Date }>`
    UPDATE webhook_deliveries SET status = 'PENDING', attempts = 0, next_attempt_at = now(), completed_at = NULL
    WHERE id IN (
      SELECT id FROM webhook_deliveries
      WHERE project_id = ${p.projectId} AND endpoint_id = ${p.id} AND ${which}
        AND (status <> 'PENDING' OR next_attempt_at > now()) AND payload <> '{}'
      ORDER BY created_at, id LIMIT ${REPLAY_MAX} FOR UPDATE)
    RETURNING id, created_at AS "createdAt"
  `.execute(trx);
  if ('deliveryId' in p && rows.length === 0) await assertReplayable(trx, p, p.deliveryId);
  return { count: rows.length, outbox: await wakeEndpointNow(trx, p), nextSince: findNextSince(rows) };
}

/**
 * Wakes the endpoint at once. If the endpoint is degraded, replayed deliveries and deliveries that are due do not wait
 * for its next probe.
 */
async function wakeEndpointNow(trx: Trx, { projectId, id }: EndpointRef): Promise<OutboxRow[]> {
  await sql`
    UPDATE webhook_endpoints SET wakes_at = NULL, probe_at = NULL WHERE project_id = ${projectId} AND id = ${id}
  `.execute(trx);
  return wakeEndpoints(trx, { projectId, endpointIds: [id] });
}

function findNextSince(rows: { createdAt: Date }[]): Date | null {
  if (rows.length < REPLAY_MAX) return null;
  return new Date(Math.max(...rows.map((row) => row.createdAt.getTime())));
}

/**
 * Throws unless the delivery exists and has a payload. A delivery that is due or in progress passes, because it is sent
 * anyway.
 */
async function assertReplayable(trx: Trx, p: EndpointRef, deliveryId: string): Promise<void> {
  const { rows } = await sql<{ isErased: boolean }>`
    SELECT payload = '{}' AS "isErased" FROM webhook_deliveries
    WHERE project_id = ${p.projectId} AND endpoint_id = ${p.id} AND id = ${deliveryId}
  `.execute(trx);
  if (!rows[0]) throw new AppError('NOT_FOUND');
  if (rows[0].isErased)
    throw new AppError('CONFLICT', {
      message: 'The contact of this delivery was erased, so nothing is left to send.',
      suggestion: 'Replay other deliveries only; this one cannot be sent again.',
    });
}
