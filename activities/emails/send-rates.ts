import type { Db } from '../../db/connection.ts';
import { getSendRate, returnSendTokens, type SendOrder, takeSendTokens } from '../../db/sending/send-rate.ts';
import { Lru } from '../../rules/lru.ts';

/** A process reads a project's rate again after this time. A changed rate therefore applies after at most this time. */
const RATE_TTL_MS = 1_000;
const PROJECTS_MAX = 10_000;

/**
 * The number of emails of a batch that may be sent now, and the wait before tokens for the other emails can be
 * requested.
 */
export interface SendRateGrant {
  granted: number;
  retryAfterMs: number;
}

/** The send rates of projects, for emails that are sent one by one. */
export interface SendRates {
  /**
   * Takes tokens for up to `n` live emails. For emails that got no token, the caller requests tokens again after
   * `retryAfterMs`. This wait counts neither as an attempt nor as a failure.
   * @param p.isRepeated true if a workflow requests a token for the same email again
   */
  take(projectId: string, p: { n: number; order: SendOrder; isRepeated?: boolean }): Promise<SendRateGrant>;
  /** Returns unused tokens. */
  returnTokens(projectId: string, n: number): Promise<void>;
  /** Returns the emails per second; 0 means no limit. */
  getRate(projectId: string): Promise<number>;
}

/**
 * Creates the send rates of a process. The process reads the rate of a project from Postgres at most once a second, not
 * for every email.
 */
export function createSendRates(deps: { db: Db; installationRate: number }): SendRates {
  const { db } = deps;
  const cachedRates = new Lru<string, { rate: number; readAtMs: number }>(PROJECTS_MAX);

  async function getRate(projectId: string): Promise<number> {
    const entry = cachedRates.get(projectId);
    if (entry && Date.now() - entry.readAtMs < RATE_TTL_MS) return entry.rate;
    const rate = await getSendRate(db, { projectId, installationRate: deps.installationRate });
    cachedRates.set(projectId, { rate, readAtMs: Date.now() });
    return rate;
  }

  return {
    getRate,
    async take(projectId, p) {
      return takeSendTokens(db, { projectId, ratePerSecond: await getRate(projectId), ...p });
    },
    async returnTokens(projectId, n) {
      await returnSendTokens(db, { projectId, n, ratePerSecond: await getRate(projectId) });
    },
  };
}
