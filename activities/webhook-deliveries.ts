import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { WebhookResult } from '../channels/webhook-request.ts';
import { queueOwnerNotice } from '../db/owner-notices.ts';
import { inTransaction } from '../db/transaction.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  completeDelivery,
  deferDeliveries,
  failPending,
  findNextDue,
  judgeEndpoint,
} from '../db/webhook-deliveries.ts';
import { type EndpointToCall, findEndpointToCall } from '../db/webhook-endpoints.ts';
import { deriveKey } from '../domain/secrets.ts';
import { MAX_TRIES, nextAttemptAt, webhookHeaders } from '../domain/webhook-registry.ts';
import type { ActivityDeps } from './deps.ts';

export type WebhookDeliveryActivities = ReturnType<typeof webhookDeliveryActivities>;

export interface DeliveryGroup {
  projectId: string;
  endpointId: string;
  deliveryIds: string[];
}

/** Requests to one endpoint at a time in a turn. */
const CONCURRENCY = 8;
/** A turn starts no request after so long, so that the slots of a worker go round among endpoints. */
const TURN_MS = 10_000;
/** What a degraded endpoint has not been asked waits so long for its next probe. */
const DEGRADED_PAUSE_MS = 60_000;

/** Deliveries of the webhook registry. Running one again is safe: what is claimed and not completed is sent again under the same id. */
export function webhookDeliveryActivities(deps: ActivityDeps) {
  const { db, config } = deps;
  const atRestKey = deriveKey(config.secretKey, 'at-rest');

  return {
    /** Delivers what is due of a group for some seconds; answers when the next is due, null when the group is done. */
    async deliverWebhooks(group: DeliveryGroup): Promise<{ nextDueAt: string | null }> {
      const { projectId, endpointId } = group;
      const ids = group.deliveryIds;
      const stopAt = Date.now() + TURN_MS;
      while (Date.now() < stopAt && !cancellationSignal().aborted) {
        const endpoint = await findEndpointToCall(db, { projectId, id: endpointId, atRestKey });
        if (!endpoint || endpoint.status === 'DISABLED') {
          await failPending(db, { projectId, ids, error: 'the endpoint is disabled' });
          return { nextDueAt: null };
        }
        const limit = endpoint.status === 'DEGRADED' ? 1 : CONCURRENCY;
        const claimed = await claimDeliveries(db, { projectId, ids, limit });
        if (claimed.length === 0) break;
        const succeeded = await Promise.all(claimed.map((delivery) => deliver(deps, group, endpoint, delivery)));
        heartbeat();
        if (endpoint.status === 'DEGRADED' && !succeeded[0]) {
          await deferDeliveries(db, { projectId, ids, until: new Date(Date.now() + DEGRADED_PAUSE_MS) });
        }
      }
      const next = await findNextDue(db, { projectId, ids });
      return { nextDueAt: next?.toISOString() ?? null };
    },
  };
}

/** One request and its record; true when the endpoint took it. */
async function deliver(
  deps: ActivityDeps,
  group: DeliveryGroup,
  endpoint: EndpointToCall,
  delivery: ClaimedDelivery,
): Promise<boolean> {
  const { projectId, endpointId } = group;
  const result = await deps.webhooks.send(requestOf(projectId, endpoint, delivery));
  const statusCode = result.outcome === 'answered' ? result.statusCode : null;
  const succeeded = statusCode !== null && statusCode >= 200 && statusCode < 300;
  const next = succeeded || delivery.attempts >= MAX_TRIES ? null : nextAttemptAt(delivery.attempts, new Date());
  await completeDelivery(deps.db, projectId, {
    id: delivery.id,
    claim: delivery.claim,
    status: succeeded ? 'DELIVERED' : next ? 'PENDING' : 'FAILED',
    responseStatus: statusCode,
    latencyMs: result.latencyMs,
    error: succeeded ? null : errorOf(result),
    nextAttemptAt: next,
  });
  await judge(deps, {
    projectId,
    endpointId,
    outcome: succeeded ? 'success' : statusCode === 410 ? 'gone' : 'failure',
  });
  return succeeded;
}

function requestOf(projectId: string, endpoint: EndpointToCall, delivery: ClaimedDelivery) {
  const timestamp = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({
    id: delivery.id,
    type: delivery.event,
    timestamp: delivery.createdAt.toISOString(),
    projectId,
    data: delivery.payload,
  });
  const signed = webhookHeaders(endpoint.secrets, { id: delivery.id, timestamp, body });
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'Tidings/1.0', ...signed };
  // A redirected POST would become a GET that says "received" for nothing: the owner has to give the right address.
  return { url: endpoint.url, method: 'POST', headers, body, maxRedirects: 0 };
}

function errorOf(result: WebhookResult): string {
  if (result.outcome === 'failed') return result.error;
  return result.statusCode >= 300 && result.statusCode < 400
    ? `answered ${result.statusCode}: redirects are not followed`
    : `answered ${result.statusCode}`;
}

/** Judges the endpoint, and tells the project's owners when this attempt disabled it: both or neither. */
async function judge(
  deps: ActivityDeps,
  p: { projectId: string; endpointId: string; outcome: 'success' | 'failure' | 'gone' },
): Promise<void> {
  const outbox = await inTransaction(deps.db, async (trx) => {
    const ref = { projectId: p.projectId, id: p.endpointId };
    const { justDisabled } = await judgeEndpoint(trx, { ...ref, outcome: p.outcome });
    if (!justDisabled) return [];
    const why = p.outcome === 'gone' ? 'it answered 410 Gone' : 'it has failed for five days';
    return queueOwnerNotice(trx, {
      projectId: p.projectId,
      subject: 'A webhook endpoint was disabled',
      body: `<p>The webhook endpoint ${p.endpointId} was disabled, because ${why}.</p>
        <p>Enable it again with PATCH /webhooks/${p.endpointId} {"enabled": true}, then replay what it missed with
        POST /webhooks/${p.endpointId}/replay.</p>`,
    });
  });
  deps.lifecycle.dispatch(outbox);
}
