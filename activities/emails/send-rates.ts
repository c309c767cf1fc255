import type { Db } from '../../db/connection.ts';
import { getSendRate, returnSendTokens, type SendOrder, takeSendTokens } from '../../db/sending/send-rate.ts';
import { Lru } from '../../rules/lru.ts';

/** A changed rate applies after this time. */
const RATE_TTL_MS = 1_000;
const PROJECTS_MAX = 10_000;

/** The part of a batch that may be sent now, and when to ask again for the rest. */
export interface SendRateGrant {
  granted: number;
  retryAfterMs: number;
}

/** The send rates of projects, for emails that are sent one by one. */
export interface SendRates {
  /**
   * Takes tokens for up to `n` live emails. Emails without a token ask again after `retryAfterMs`. This wait counts
   * neither as an attempt nor as a failure.
   * @param p.isRepeated true for a workflow's email that has asked before
   */
  take(projectId: string, p: { n: number; order: SendOrder; isRepeated?: boolean }): Promise<SendRateGrant>;
  /** Returns unused tokens. */
  returnTokens(projectId: string, n: number): Promise<void>;
  /** Returns the emails per second; 0 means no limit. */
  rateOf(projectId: string): Promise<number>;
}

/** Creates the send rates, one per process. A rate is read again every second, not for every email. */
export function createSendRates(deps: { db: Db; deploymentRate: number }): SendRates {
  const { db } = deps;
  const known = new Lru<string, { rate: number; readAtMs: number }>(PROJECTS_MAX);

  async function rateOf(projectId: string): Promise<number> {
    const entry = known.get(projectId);
    if (entry && Date.now() - entry.readAtMs < RATE_TTL_MS) return entry.rate;
    const rate = await getSendRate(db, { projectId, deploymentRate: deps.deploymentRate });
    known.set(projectId, { rate, readAtMs: Date.now() });
    return rate;
  }

  return {
    rateOf,
    async take(projectId, p) {
      return takeSendTokens(db, { projectId, ratePerSecond: await rateOf(projectId), ...p });
    },
    async returnTokens(projectId, n) {
      await returnSendTokens(db, { projectId, n, ratePerSecond: await rateOf(projectId) });
    },
  };
}
