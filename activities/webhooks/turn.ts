import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookRequest, WebhookResult } from '../../channels/webhook-request.ts';
import { createBatcher } from '../../db/batcher.ts';
import { queueOwnerNotice } from '../../db/projects/owner-notices.ts';
import type { EndpointStatus } from '../../db/schema/webhooks.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  type DeliveryAttempt,
  type DueDelivery,
  type EndpointTurn,
  listDueDeliveries,
  recordAttempts,
  updateEndpointStatus,
} from '../../db/webhooks/endpoint-turns.ts';
import {
  createWebhookHeaders,
  type EndpointVerdict,
  MAX_ATTEMPTS,
  nextAttemptAt,
  summarizeOutcomes,
  type WebhookOutcome,
} from '../../rules/webhooks/registry.ts';
import { toStoredResponseText } from '../../rules/webhooks/response-text.ts';
import type { ActivityDeps } from '../deps.ts';

/** A turn starts no request after this time, so that other endpoints get the worker's slots too. */
const TURN_MS = 10_000;
/**
 * The maximum number of concurrent requests to one endpoint. Requests whose result is being recorded count too. If the
 * process is killed, at most this many requests are sent twice.
 */
const REQUESTS_MAX = 20;
/**
 * The number of deliveries that a turn reads at a time. With their payloads, these deliveries have a few hundred kB.
 */
const PAGE = 200;
/**
 * When a turn finds no more deliveries, it waits for this time and checks again before it ends. Events that arrive
 * slowly but steadily then share one turn.
 */
const LINGER_MS = 100;
/** While requests are running and slots are free, the turn checks for new deliveries at this interval. */
const CHECK_MS = 500;

/**
 * Sends an endpoint's due deliveries for some seconds, up to 20 requests at a time. A DEGRADED endpoint gets one
 * request at a time. The turn ends early when a request to a degraded endpoint fails, when the endpoint is disabled,
 * and when another turn of the endpoint has started.
 */
export async function deliverDueWebhooks(
  deps: ActivityDeps,
  turn: EndpointTurn,
  stop: AbortSignal,
): Promise<TurnOutcome> {
  const requests = createRequests(deps, turn);
  const endsAt = Date.now() + TURN_MS;
  const shouldContinue = () => !requests.isOver() && !stop.aborted && Date.now() < endsAt;
  let hasLingered = false;
  while (shouldContinue()) {
    const due = await listDueDeliveries(deps.db, { ...turn, underWay: requests.underWay(), limit: PAGE });
    for (const delivery of due) {
      await requests.waitForSlot();
      if (!shouldContinue()) break;
      requests.start(delivery);
    }
    if (due.length === PAGE) continue;
    if (requests.underWay().length > 0) {
      await Promise.race([requests.waitUntilIdle(), sleep(CHECK_MS)]);
      hasLingered = false;
    } else if (hasLingered) break;
    else {
      await sleep(LINGER_MS);
      hasLingered = true;
    }
  }
  await requests.waitUntilIdle();
  return requests.end();
}

/** The numbers of requests of a turn, and the endpoint's status at the end of the turn. */
export interface TurnOutcome {
  status: EndpointStatus;
  delivered: number;
  failed: number;
  /**
   * Why the last failed request failed. Null if no request failed. The text contains nothing that the endpoint sent,
   * because Temporal shows it.
   */
  lastFailure: string | null;
}

/** A finished attempt at a delivery. `outcome` decides how the endpoint's status changes. */
interface EndedAttempt extends DeliveryAttempt {
  outcome: WebhookOutcome;
  /** The part of `error` that Temporal may show. */
  shownError: string | null;
}

/**
 * Makes the requests of a turn. While results are being recorded, further results are collected, and recorded together
 * afterwards.
 */
function createRequests(deps: ActivityDeps, turn: EndpointTurn) {
  const underWay = new Map<string, Promise<void>>();
  let { status, failuresInRow } = turn;
  let isOver = false;
  const counts: Omit<TurnOutcome, 'status'> = { delivered: 0, failed: 0, lastFailure: null };
  let failure: { error: unknown } | undefined;
  const recorder = createBatcher<EndedAttempt>(record);

  async function deliver(delivery: DueDelivery): Promise<void> {
    try {
      const result = await deps.webhooks.send(createRequest(turn, delivery));
      await recorder.add([toEndedAttempt(turn, delivery, result)]);
    } catch (error) {
      // The result could not be recorded, for example because Postgres is unreachable. Temporal retries the activity,
      // which repeats the requests that were not recorded.
      failure ??= { error };
      isOver = true;
    }
    underWay.delete(delivery.id);
  }

  async function record(ended: EndedAttempt[]): Promise<void> {
    const recorded = await recordAttempts(deps.db, { ...turn, attempts: ended });
    if (recorded === undefined) {
      isOver = true;
      return;
    }
    for (const { shownError } of ended) {
      if (shownError === null) counts.delivered += 1;
      else counts.failed += 1;
      counts.lastFailure = shownError ?? counts.lastFailure;
    }
    const verdict = summarizeOutcomes(ended.map(({ outcome }) => outcome));
    const isUnchanged = verdict.failures === 0 && failuresInRow === 0;
    status = isUnchanged ? recorded : await updateStatus(deps, turn, verdict);
    failuresInRow = verdict.succeeded ? verdict.failures : failuresInRow + verdict.failures;
    isOver ||= status === 'DISABLED' || (status === 'DEGRADED' && verdict.failures > 0);
  }

  return {
    start: (delivery: DueDelivery) => void underWay.set(delivery.id, deliver(delivery)),
    underWay: () => [...underWay.keys()],
    isOver: () => isOver,
    /** Resolves when a slot for another request is free. */
    waitForSlot: async () => {
      while (underWay.size >= (status === 'DEGRADED' ? 1 : REQUESTS_MAX)) await Promise.race(underWay.values());
    },
    waitUntilIdle: () => Promise.all(underWay.values()),
    end: () => {
      if (failure) throw failure.error;
      return { status, ...counts };
    },
  };
}

/**
 * Updates the endpoint's status after some attempts. If the attempts lead to the status DISABLED, the same transaction
 * queues an email to the project's owners.
 */
async function updateStatus(
  deps: ActivityDeps,
  { projectId, endpointId }: EndpointTurn,
  verdict: EndpointVerdict,
): Promise<EndpointStatus> {
  const { status, outbox: queued } = await inTransaction(deps.db, async (trx) => {
    const updated = await updateEndpointStatus(trx, { projectId, endpointId, verdict });
    if (!updated.justDisabled) return { status: updated.status, outbox: [] };
    const cause = verdict.gone ? 'it responded with 410 Gone' : 'it failed for five days';
    const notice = await queueOwnerNotice(trx, {
      projectId,
      subject: 'A webhook endpoint was disabled',
      body: `<p>The webhook endpoint ${endpointId} was disabled, because ${cause}.</p>
        <p>In the dashboard, open Developers, Webhooks: enable the endpoint, then replay the events it missed.</p>
        <p>Or use the API: PATCH /webhooks/${endpointId} {"enabled": true}, then
        POST /webhooks/${endpointId}/replay.</p>`,
    });
    return { status: updated.status, outbox: notice };
  });
  deps.outbox.wake(queued);
  return status;
}

function toEndedAttempt(turn: EndpointTurn, delivery: DueDelivery, result: WebhookResult): EndedAttempt {
  const responseStatus = result.outcome === 'answered' ? result.statusCode : null;
  const succeeded = responseStatus !== null && responseStatus >= 200 && responseStatus < 300;
  const attempts = delivery.attempts + 1;
  const next = succeeded || attempts >= MAX_ATTEMPTS ? null : nextAttemptAt(attempts, new Date());
  return {
    id: delivery.id,
    status: succeeded ? 'DELIVERED' : next ? 'PENDING' : 'FAILED',
    responseStatus,
    responseBody: result.outcome === 'answered' ? toStoredResponseText(result.body, turn.url) : null,
    latencyMs: result.latencyMs,
    error: succeeded ? null : describeError(result),
    shownError: succeeded ? null : result.outcome === 'failed' ? result.status : describeError(result),
    nextAttemptAt: next,
    outcome: succeeded ? 'success' : responseStatus === 410 ? 'gone' : 'failure',
  };
}

function createRequest(turn: EndpointTurn, delivery: DueDelivery): WebhookRequest {
  const timestamp = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({
    id: delivery.id,
    type: delivery.event,
    timestamp: delivery.createdAt.toISOString(),
    projectId: turn.projectId,
    data: delivery.payload,
  });
  const signed = createWebhookHeaders(turn.secrets, { id: delivery.id, timestamp, body });
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'Tidings/1.0', ...signed };
  // Redirects are not followed (docs/guides/webhooks.md). A server may turn a redirected POST into a GET, and report
  // success without receiving the event. The owner must configure the right address.
  return { url: turn.url, method: 'POST', headers, body, maxRedirects: 0 };
}

function describeError(result: WebhookResult): string {
  if (result.outcome === 'failed') return result.error;
  return result.statusCode >= 300 && result.statusCode < 400
    ? `HTTP ${result.statusCode}: redirects are not followed`
    : `HTTP ${result.statusCode}`;
}
