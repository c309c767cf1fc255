import { cancellationSignal } from '@temporalio/activity';
import { findDeleted } from '../../db/records/deleted-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  beginTurn,
  type EndpointTurn,
  endTurn,
  failPendingDeliveries,
  type NextTurn,
} from '../../db/webhooks/endpoint-turns.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { RowMissing } from '../../rules/row-missing.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { deliverDueWebhooks, type TurnOutcome } from './turn.ts';

export type WebhookDeliveryActivities = ReturnType<typeof webhookDeliveryActivities>;

export interface TurnInput {
  projectId: string;
  endpointId: string;
}

export interface TurnResult {
  /** ISO 8601; null when no delivery waits. */
  nextDueAt: string | null;
  /** Milliseconds until then; 0 if a delivery is already due. */
  waitMs?: number;
  /** Absent if the turn made no request, and in results of earlier versions. */
  outcome?: TurnOutcome;
}

/**
 * Deliveries of the webhook registry. Safe to repeat: a request that was sent but not recorded is sent again with the
 * same `webhook-id`. If two turns run at the same time, only the later one records results.
 */
export function webhookDeliveryActivities(deps: ActivityDeps) {
  const atRestKey = deriveKey(deps.config.secretKey, 'at-rest');

  return {
    /** Delivers an endpoint's due deliveries for some seconds. Returns the time at which more are due. */
    async deliverWebhooks({ projectId, endpointId }: TurnInput): Promise<TurnResult> {
      const turn = await beginTurn(deps.db, { projectId, id: endpointId, atRestKey });
      if (!turn) {
        const deleted = await findDeleted(deps.db, { projectId, ids: [endpointId] });
        if (!deleted.has(endpointId)) throw new RowMissing('webhook endpoint', endpointId);
        return { nextDueAt: null };
      }
      return withHeartbeats(async () => {
        const outcome = await runTurn(deps, turn);
        return toResult(await inTransaction(deps.db, (trx) => endTurn(trx, turn)), outcome);
      });
    },
  };
}

/** Sends the due deliveries of a turn. If the endpoint is DISABLED, fails the deliveries that still wait. */
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
