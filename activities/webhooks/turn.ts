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
  type EndpointVerdict,
  MAX_TRIES,
  nextAttemptAt,
  verdictOf,
  type WebhookOutcome,
  webhookHeaders,
} from '../../rules/webhooks/registry.ts';
import { storedResponseText } from '../../rules/webhooks/response-text.ts';
import type { ActivityDeps } from '../deps.ts';

/** A turn starts no request after this time, so that a worker's slots rotate among endpoints. */
const TURN_MS = 10_000;
/**
 * The number of concurrent requests to one endpoint. Requests whose result is being recorded count too. If the process
 * is killed, at most this many are sent twice.
 */
const WIDTH = 20;
/** The number of deliveries that are read at a time; with their payloads they are a few hundred kB. */
const PAGE = 200;
/**
 * A turn that finds no more deliveries checks again after this time. Events that arrive slowly but steadily then share
 * one turn.
 */
const LINGER_MS = 100;
/** While requests are running and slots are free, the turn checks for new deliveries at this interval. */
const LOOK_MS = 500;

/**
 * Delivers an endpoint's due deliveries for some seconds: several requests at a time, one to a degraded endpoint. Ends
 * early when the endpoint is degraded or its probe fails, when it is disabled, and when another turn has started.
 */
export async function deliverDueWebhooks(
  deps: ActivityDeps,
  turn: EndpointTurn,
  stop: AbortSignal,
): Promise<TurnOutcome> {
  const requests = createRequests(deps, turn);
  const endsAt = Date.now() + TURN_MS;
  const goesOn = () => !requests.isOver() && !stop.aborted && Date.now() < endsAt;
  let lingered = false;
  while (goesOn()) {
    const due = await listDueDeliveries(deps.db, { ...turn, underWay: requests.underWay(), limit: PAGE });
    for (const delivery of due) {
      await requests.room();
      if (!goesOn()) break;
      requests.start(delivery);
    }
    if (due.length === PAGE) continue;
    if (requests.underWay().length > 0) {
      await Promise.race([requests.idle(), sleep(LOOK_MS)]);
      lingered = false;
    } else if (lingered) break;
    else {
      await sleep(LINGER_MS);
      lingered = true;
    }
  }
  await requests.idle();
  return requests.end();
}

/** The requests of a turn, and the endpoint's status at its end. */
export interface TurnOutcome {
  status: EndpointStatus;
  delivered: number;
  failed: number;
  /** Why the last failed request failed. Null if none failed. A code, because Temporal shows it. */
  lastFailure: string | null;
}

/** An attempt, with its outcome for the endpoint's status. */
interface Ended extends DeliveryAttempt {
  outcome: WebhookOutcome;
  /** The part of `error` that Temporal may show. */
  shownError: string | null;
}

/** Makes the requests of a turn. Each result is recorded together with others that have arrived in the meantime. */
function createRequests(deps: ActivityDeps, turn: EndpointTurn) {
  const underWay = new Map<string, Promise<void>>();
  let { status, failuresInRow } = turn;
  let over = false;
  const counts: Omit<TurnOutcome, 'status'> = { delivered: 0, failed: 0, lastFailure: null };
  let fault: { error: unknown } | undefined;
  const recorder = createBatcher<Ended>(record);

  async function deliver(delivery: DueDelivery): Promise<void> {
    try {
      const result = await deps.webhooks.send(requestOf(turn, delivery));
      await recorder.add([endOf(turn, delivery, result)]);
    } catch (error) {
      // Postgres is unreachable. Temporal retries the activity, which repeats the requests that were not recorded.
      fault ??= { error };
      over = true;
    }
    underWay.delete(delivery.id);
  }

  async function record(ended: Ended[]): Promise<void> {
    const recorded = await recordAttempts(deps.db, { ...turn, attempts: ended });
    if (recorded === undefined) {
      over = true;
      return;
    }
    for (const { shownError } of ended) {
      if (shownError === null) counts.delivered += 1;
      else counts.failed += 1;
      counts.lastFailure = shownError ?? counts.lastFailure;
    }
    const verdict = verdictOf(ended.map(({ outcome }) => outcome));
    const nothingNew = verdict.failures === 0 && failuresInRow === 0;
    status = nothingNew ? recorded : await judge(deps, turn, verdict);
    failuresInRow = verdict.succeeded ? verdict.failures : failuresInRow + verdict.failures;
    over ||= status === 'DISABLED' || (status === 'DEGRADED' && verdict.failures > 0);
  }

  return {
    start: (delivery: DueDelivery) => void underWay.set(delivery.id, deliver(delivery)),
    underWay: () => [...underWay.keys()],
    isOver: () => over,
    /** Resolves when another request may start. */
    room: async () => {
      while (underWay.size >= (status === 'DEGRADED' ? 1 : WIDTH)) await Promise.race(underWay.values());
    },
    idle: () => Promise.all(underWay.values()),
    end: () => {
      if (fault) throw fault.error;
      return { status, ...counts };
    },
  };
}

/**
 * Updates the endpoint's status. If these attempts disabled it, the project's owners are notified in the same
 * transaction.
 */
async function judge(
  deps: ActivityDeps,
  { projectId, endpointId }: EndpointTurn,
  verdict: EndpointVerdict,
): Promise<EndpointStatus> {
  const { status, outbox: queued } = await inTransaction(deps.db, async (trx) => {
    const judged = await updateEndpointStatus(trx, { projectId, endpointId, verdict });
    if (!judged.justDisabled) return { status: judged.status, outbox: [] };
    const why = verdict.gone ? 'it responded with 410 Gone' : 'it failed for five days';
    const notice = await queueOwnerNotice(trx, {
      projectId,
      subject: 'A webhook endpoint was disabled',
      body: `<p>The webhook endpoint ${endpointId} was disabled, because ${why}.</p>
        <p>In the dashboard, open Developers, Webhooks: enable the endpoint, then replay the events it missed.</p>
        <p>Or use the API: PATCH /webhooks/${endpointId} {"enabled": true}, then
        POST /webhooks/${endpointId}/replay.</p>`,
    });
    return { status: judged.status, outbox: notice };
  });
  deps.outbox.wake(queued);
  return status;
}

function endOf(turn: EndpointTurn, delivery: DueDelivery, result: WebhookResult): Ended {
  const responseStatus = result.outcome === 'answered' ? result.statusCode : null;
  const succeeded = responseStatus !== null && responseStatus >= 200 && responseStatus < 300;
  const tries = delivery.attempts + 1;
  const next = succeeded || tries >= MAX_TRIES ? null : nextAttemptAt(tries, new Date());
  return {
    id: delivery.id,
    status: succeeded ? 'DELIVERED' : next ? 'PENDING' : 'FAILED',
    responseStatus,
    responseBody: result.outcome === 'answered' ? storedResponseText(result.body, turn.url) : null,
    latencyMs: result.latencyMs,
    error: succeeded ? null : errorOf(result),
    shownError: succeeded ? null : result.outcome === 'failed' ? result.status : errorOf(result),
    nextAttemptAt: next,
    outcome: succeeded ? 'success' : responseStatus === 410 ? 'gone' : 'failure',
  };
}

function requestOf(turn: EndpointTurn, delivery: DueDelivery): WebhookRequest {
  const timestamp = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({
    id: delivery.id,
    type: delivery.event,
    timestamp: delivery.createdAt.toISOString(),
    projectId: turn.projectId,
    data: delivery.payload,
  });
  const signed = webhookHeaders(turn.secrets, { id: delivery.id, timestamp, body });
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'Tidings/1.0', ...signed };
  // A redirected POST would become a GET. The server would respond with success without receiving the event, so the
  // owner must configure the right address.
  return { url: turn.url, method: 'POST', headers, body, maxRedirects: 0 };
}

function errorOf(result: WebhookResult): string {
  if (result.outcome === 'failed') return result.error;
  return result.statusCode >= 300 && result.statusCode < 400
    ? `answered ${result.statusCode}: redirects are not followed`
    : `answered ${result.statusCode}`;
}
