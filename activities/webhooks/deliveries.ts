import { cancellationSignal } from '@temporalio/activity';
import { findDeletedRows } from '../../db/records/deleted-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  type EndpointTurn,
  endEndpointTurn,
  failPendingDeliveries,
  type NextTurn,
  startEndpointTurn,
} from '../../db/webhooks/endpoint-turns.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { RowMissing } from '../../rules/row-missing.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { deliverDueWebhooks, type TurnOutcome } from './turn.ts';

export type WebhookDeliveryActivities = ReturnType<typeof createWebhookDeliveryActivities>;

export interface TurnInput {
  projectId: string;
  endpointId: string;
}

export interface TurnResult {
  /** When the next delivery is due, in ISO 8601. Null when no delivery waits. */
  nextDueAt: string | null;
  /** Milliseconds until `nextDueAt`; 0 if a delivery is already due. */
  waitMs?: number;
  /** Absent if the turn made no request, and in results of earlier releases. */
  outcome?: TurnOutcome;
}

/**
 * The activity that delivers events to webhook endpoints. Safe to repeat: a request that was sent but not recorded is
 * sent again with the same `webhook-id`. If two turns of an endpoint run at the same time, only the turn that started
 * later records results.
 */
export function createWebhookDeliveryActivities(deps: ActivityDeps) {
  const atRestKey = deriveKey(deps.config.secretKey, 'at-rest');

  return {
    /** Sends an endpoint's due deliveries for some seconds. Returns the time at which the next delivery is due. */
    async deliverWebhooks({ projectId, endpointId }: TurnInput): Promise<TurnResult> {
      const turn = await startEndpointTurn(deps.db, { projectId, id: endpointId, atRestKey });
      if (!turn) {
        const deleted = await findDeletedRows(deps.db, { projectId, ids: [endpointId] });
        if (!deleted.has(endpointId)) throw new RowMissing('webhook endpoint', endpointId);
        return { nextDueAt: null };
      }
      return withHeartbeats(async () => {
        const outcome = await runTurn(deps, turn);
        return toResult(await inTransaction(deps.db, (trx) => endEndpointTurn(trx, turn)), outcome);
      });
    },
  };
}

/** Sends the due deliveries of a turn. If the endpoint is DISABLED, marks all waiting deliveries as failed. */
async function runTurn(deps: ActivityDeps, turn: EndpointTurn): Promise<TurnOutcome | undefined> {
  if (turn.paused) return undefined;
  const outcome = turn.status === 'DISABLED' ? undefined : await deliverDueWebhooks(deps, turn, cancellationSignal());
  if ((outcome ?? turn).status !== 'DISABLED') return outcome;
  while ((await failPendingDeliveries(deps.db, { ...turn, error: 'the endpoint is disabled' })) > 0);
  return outcome;
}

function toResult(next: NextTurn | null, outcome: TurnOutcome | undefined): TurnResult {
  const due = next ? { nextDueAt: next.at.toISOString(), waitMs: next.waitMs } : { nextDueAt: null };
  const madeRequests = outcome !== undefined && outcome.delivered + outcome.failed > 0;
  return { ...due, ...(madeRequests && { outcome }) };
}
