import { sql } from 'kysely';
import type { JobKind } from '../../rules/contacts/jobs.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Db, Trx } from '../connection.ts';
import { uuidBoundAt } from '../events/activity-sources.ts';
import { enqueue } from '../outbox/outbox.ts';

/** Maximum number of restocks per round. The next round of recovery queues the rest. */
const ROUND_MAX = 1_000;

export interface UnfinishedJob {
  projectId: string;
  id: string;
  kind: JobKind;
}

/**
 * Lists jobs of all projects that should have a Temporal workflow: they have not ended, and were handed to Temporal a
 * while ago. Oldest first.
 */
export async function listUnfinishedJobs(
  db: Db,
  p: { after: string | null; settledMs: number; limit: number },
): Promise<UnfinishedJob[]> {
  const { rows } = await sql<UnfinishedJob>`
    SELECT project_id AS "projectId", id, kind FROM jobs j
    WHERE status IN ('QUEUED', 'RUNNING') AND created_at <= now() - make_interval(secs => ${p.settledMs / 1_000}::float8)
      AND ${p.after === null ? sql`true` : sql`id > ${p.after}`}
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = 'job.start' AND o.ref_id = j.id)
    ORDER BY id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

/** Queues the start of jobs again. Each job continues at its stored cursor. */
export function enqueueJobs(trx: Trx, jobs: UnfinishedJob[]): Promise<OutboxRow[]> {
  return enqueue(
    trx,
    jobs.map(({ projectId, id, kind }) => ({ projectId, kind: 'job.start' as const, refId: id, payload: { kind } })),
  );
}

/** A webhook endpoint with pending deliveries. */
export interface WaitingEndpoint {
  projectId: string;
  id: string;
}

/**
 * Lists webhook endpoints of all projects that should have a Temporal workflow, because a delivery has been pending for
 * at least `settledMs`.
 */
export async function listWaitingEndpoints(
  db: Db,
  p: { after: string | null; settledMs: number; limit: number },
): Promise<WaitingEndpoint[]> {
  const { rows } = await sql<WaitingEndpoint>`
    SELECT e.id, e.project_id AS "projectId" FROM webhook_endpoints e
    WHERE ${p.after === null ? sql`true` : sql`e.id > ${p.after}`} AND EXISTS (
      SELECT FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'PENDING'
        AND least(d.created_at, d.next_attempt_at) <= now() - make_interval(secs => ${p.settledMs / 1_000}::float8))
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = 'webhook.deliver' AND o.ref_id = e.id)
    ORDER BY e.id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

/**
 * Queues a signal for each endpoint. The signal starts the endpoint's workflow, or makes the running workflow check for
 * due deliveries again.
 */
export function wakeEndpoints(trx: Trx, endpoints: WaitingEndpoint[]): Promise<OutboxRow[]> {
  return enqueue(
    trx,
    endpoints.map(({ id, projectId }) => ({
      projectId,
      kind: 'webhook.deliver' as const,
      refId: id,
      payload: { endpointId: id },
    })),
  );
}

/**
 * Queues the notification of contacts that waited for a restock and were not notified, in all projects. The workflow
 * that notifies such contacts ended early, or Temporal has lost it. A workflow that is running continues. No contact is
 * notified twice, because the transaction that notifies a contact also deletes its row in `back_in_stock_waits`.
 */
export async function enqueueRestocks(trx: Trx): Promise<OutboxRow[]> {
  const { rows } = await sql<{ projectId: string; variantId: string; restockNo: number }>`
    SELECT project_id AS "projectId", variant_id AS "variantId", restock_no AS "restockNo" FROM storefront_variants v
    WHERE restock_no > 0 AND EXISTS (
        SELECT FROM back_in_stock_waits w
        WHERE w.project_id = v.project_id AND w.variant_id = v.variant_id AND w.after_restock_no < v.restock_no)
      AND NOT EXISTS (
        SELECT FROM outbox o
        WHERE o.kind = 'restock.start' AND o.ref_id = v.project_id AND o.payload->>'variantId' = v.variant_id)
    ORDER BY project_id, variant_id LIMIT ${ROUND_MAX}
  `.execute(trx);
  return enqueue(
    trx,
    rows.map(({ projectId, ...payload }) => ({ projectId, kind: 'restock.start' as const, refId: projectId, payload })),
  );
}

/**
 * Queues the release of held emails again, for projects that are no longer on hold. The release ended early, Temporal
 * has lost it, or a worker set a claimed email to HELD after the release. Two concurrent releases do no harm, because
 * each email is released by its status. Finds projects with held emails that were accepted since `since` by one scan of
 * the primary key, as in db/recovery/lost-messages.ts. The queued release then covers all held emails of the project.
 */
export async function enqueueReleases(trx: Trx, since: Date): Promise<OutboxRow[]> {
  const { rows } = await sql<{ projectId: string }>`
    SELECT DISTINCT m.project_id AS "projectId" FROM emails m JOIN projects p ON p.id = m.project_id
    WHERE m.id >= ${uuidBoundAt(since, '0')}::uuid AND m.status = 'HELD' AND m.campaign_id IS NULL AND p.effective_held_at IS NULL
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = 'hold.release' AND o.ref_id = m.project_id)
  `.execute(trx);
  return enqueue(
    trx,
    rows.map(({ projectId }) => ({ projectId, kind: 'hold.release' as const, refId: projectId })),
  );
}
