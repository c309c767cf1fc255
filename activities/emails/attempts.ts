import type { Db } from '../../db/connection.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { type ClaimedEmail, claimEmails, findEmailsUnderSendRate } from '../../db/sending/email-ledger.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import type { AttemptOutcome } from '../../rules/emails/attempt-outcome.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import type { Delivery, Mailer } from './mailer.ts';
import type { SendRates } from './send-rates.ts';
import type { SettleHook } from './settler.ts';

/**
 * If an outcome could not be recorded, for example because Postgres is unreachable, the delivery workflow claims the
 * email again after this time. The provider may then get the email a second time, with the same Message-ID.
 */
const UNRECORDED_MS = 30_000;

/**
 * The id of a single email, and the id of the delivery that sends it: the outbox row for the first attempt, then the
 * delivery workflow. While a delivery has claimed an email, no other delivery can claim it.
 */
export interface EmailToSend {
  id: string;
  deliveryId: string;
}

/** The outcome of one email of a batch. */
export interface EmailAttemptResult {
  id: string;
  outcome:
    | AttemptOutcome
    /** The email was not claimed, because it is settled, was deleted, or another delivery has claimed it. */
    | { kind: 'absent' }
    /** The outcome could not be recorded. The email is claimed again at `dueAt`. */
    | { kind: 'unrecorded'; dueAt: Date };
}

export interface EmailAttempts {
  /**
   * Attempts each of the emails of a project once. The results have the same order as the emails. Safe to run again: an
   * email that is settled, or that another delivery has claimed, is not sent.
   */
  attempt(p: {
    projectId: string;
    emails: EmailToSend[];
    /** Emails that are still deferred at this instant are marked as failed. */
    expiresAt: Date;
    /** Aborted when no further email may be sent. */
    stop: AbortSignal;
    whenSettled?: SettleHook<undefined>;
  }): Promise<EmailAttemptResult[]>;
}

type Batch = Parameters<EmailAttempts['attempt']>[0];

/**
 * Creates the attempts at single emails. The worker uses them for the first attempt, directly from the outbox, and the
 * delivery workflow uses them for all later attempts.
 */
export function createEmailAttempts(deps: { config: Config; db: Db; mailer: Mailer; rates: SendRates }): EmailAttempts {
  const { db, mailer, rates } = deps;
  const pads = createSuppressionPads(deriveKey(deps.config.secretKey, 'suppression'));

  /**
   * Takes tokens of the send rate, and returns the emails that may be sent now. The caller attempts the other emails
   * later. The rate does not limit emails of test keys and emails to the simulator.
   */
  async function takeTokens({
    projectId,
    emails,
  }: Batch): Promise<{ now: EmailToSend[]; tokens: number; retryAfterMs: number }> {
    if ((await rates.getRate(projectId)) === 0) return { now: emails, tokens: 0, retryAfterMs: 0 };
    const live = await findEmailsUnderSendRate(db, { projectId, ids: emails.map(({ id }) => id) });
    const { granted, retryAfterMs } = await rates.take(projectId, { n: live.size, order: 'single' });
    let tokensLeft = granted;
    const now = emails.filter(({ id }) => !live.has(id) || tokensLeft-- > 0);
    return { now, tokens: granted, retryAfterMs };
  }

  async function attempt(batch: Batch): Promise<EmailAttemptResult[]> {
    const { projectId, emails } = batch;
    const { now, tokens, retryAfterMs } = await takeTokens(batch);
    const claimed = await claimEmails(db, { projectId, emails: now, suppressionPads: pads });
    const unused = tokens - claimed.filter(needsToken).length;
    if (unused > 0) await rates.returnTokens(projectId, unused);
    const { expiresAt, stop, whenSettled } = batch;
    // Waits for all deliveries even if one of them fails. Otherwise the remaining deliveries would continue after this
    // function has failed, and the retry would send their emails twice.
    const deliveries = await Promise.allSettled(
      claimed.map((email) => mailer.deliver(email, whenSettled, { expiresAt, stop })),
    );
    const outcomes = new Map(deliveries.map((delivery, n) => [claimed[n]?.id, getOutcome(delivery)]));
    const throttled = claimed.filter(
      (email) => needsToken(email) && outcomes.get(email.id)?.kind === 'throttled',
    ).length;
    if (tokens > 0 && throttled > 0) await rates.returnTokens(projectId, throttled);
    const allowed = new Set(now);
    const dueAt = new Date(Date.now() + retryAfterMs);
    return emails.map((email): EmailAttemptResult => {
      const { id } = email;
      if (!allowed.has(email)) return { id, outcome: { kind: 'throttled', cause: 'rate', dueAt } };
      return { id, outcome: outcomes.get(id) ?? { kind: 'absent' } };
    });
  }

  return { attempt };
}

/** Tells whether an email needs a token of the send rate. Uses the same rule as `findEmailsUnderSendRate`. */
function needsToken(email: ClaimedEmail): boolean {
  return email.mode === 'live' && !isSimulated(email);
}

function getOutcome(delivery: PromiseSettledResult<Delivery<undefined>>): EmailAttemptResult['outcome'] {
  if (delivery.status === 'fulfilled') return delivery.value.outcome;
  return { kind: 'unrecorded', dueAt: new Date(Date.now() + UNRECORDED_MS) };
}
