import type { Db } from '../../db/connection.ts';
import { suppressionPads } from '../../db/contacts/suppressions.ts';
import { type ClaimedEmail, claimEmails, findLiveEmails } from '../../db/sending/email-ledger.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import type { Config } from '../../rules/config.ts';
import type { AttemptOutcome } from '../../rules/emails/attempt-outcome.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import type { Delivery, Mailer } from './mailer.ts';
import type { SendRates } from './send-rates.ts';
import type { SettleHook } from './settler.ts';

/**
 * The wait before an email is claimed again, if Postgres was unreachable for longer than the settler retries. The email
 * is then sent again with the same Message-ID.
 */
const UNRECORDED_MS = 30_000;

/** A single email and its delivery. The first delivery that claims an email keeps it. */
export interface EmailToSend {
  id: string;
  deliveryId: string;
}

/** The outcome of one email of a batch. */
export interface Attempted {
  id: string;
  outcome:
    | AttemptOutcome
    /** The email was not claimed, because it is settled or another delivery has it. */
    | { kind: 'absent' }
    /** The outcome could not be recorded: the email is claimed again at `dueAt`. */
    | { kind: 'unrecorded'; dueAt: Date };
}

export interface EmailAttempts {
  /**
   * Attempts each of a project's emails once. The results are in the order of the emails. Safe to run twice: each
   * email is claimed and settled by its row.
   */
  attempt(p: {
    projectId: string;
    emails: EmailToSend[];
    /** Emails that are still deferred at this instant are marked as failed. */
    expiresAt: Date;
    /** Aborted when no further email may be sent. */
    stop: AbortSignal;
    whenSettled?: SettleHook<undefined>;
  }): Promise<Attempted[]>;
}

type Batch = Parameters<EmailAttempts['attempt']>[0];

/** Attempts single emails, for the worker that took their rows and for Temporal's retries alike. */
export function createEmailAttempts(deps: { config: Config; db: Db; mailer: Mailer; rates: SendRates }): EmailAttempts {
  const { db, mailer, rates } = deps;
  const pads = suppressionPads(deriveKey(deps.config.secretKey, 'suppression'));

  /**
   * Takes tokens of the send rate, and selects the emails that it allows now; the others are attempted later. Emails of test keys and to the
   * simulator are not limited.
   */
  async function takeTokens({
    projectId,
    emails,
  }: Batch): Promise<{ now: EmailToSend[]; tokens: number; retryAfterMs: number }> {
    if ((await rates.rateOf(projectId)) === 0) return { now: emails, tokens: 0, retryAfterMs: 0 };
    const live = await findLiveEmails(db, { projectId, ids: emails.map(({ id }) => id) });
    const { granted, retryAfterMs } = await rates.take(projectId, { n: live.size, order: 'single' });
    let left = granted;
    const now = emails.filter(({ id }) => !live.has(id) || left-- > 0);
    return { now, tokens: granted, retryAfterMs };
  }

  async function attempt(batch: Batch): Promise<Attempted[]> {
    const { projectId, emails } = batch;
    const { now, tokens, retryAfterMs } = await takeTokens(batch);
    const claimed = await claimEmails(db, { projectId, emails: now, suppressionPads: pads });
    const unused = tokens - claimed.filter(needsToken).length;
    if (unused > 0) await rates.returnTokens(projectId, unused);
    const { expiresAt, stop, whenSettled } = batch;
    // Waits for all deliveries even if one fails. The others would otherwise continue unnoticed, and the retry would
    // send them twice.
    const deliveries = await Promise.allSettled(
      claimed.map((email) => mailer.deliver(email, whenSettled, { expiresAt, stop })),
    );
    const outcomes = new Map(deliveries.map((delivery, n) => [claimed[n]?.id, outcomeOf(delivery)]));
    const throttled = claimed.filter(
      (email) => needsToken(email) && outcomes.get(email.id)?.kind === 'throttled',
    ).length;
    if (tokens > 0 && throttled > 0) await rates.returnTokens(projectId, throttled);
    const asked = new Set(now);
    const dueAt = new Date(Date.now() + retryAfterMs);
    return emails.map((email): Attempted => {
      const { id } = email;
      if (!asked.has(email)) return { id, outcome: { kind: 'throttled', cause: 'rate', dueAt } };
      return { id, outcome: outcomes.get(id) ?? { kind: 'absent' } };
    });
  }

  return { attempt };
}

/** Tells whether the send rate limits an email, by the same rule as `findLiveEmails`. */
function needsToken(email: ClaimedEmail): boolean {
  return email.mode === 'live' && !isSimulated(email);
}

function outcomeOf(delivery: PromiseSettledResult<Delivery<undefined>>): Attempted['outcome'] {
  if (delivery.status === 'fulfilled') return delivery.value.outcome;
  return { kind: 'unrecorded', dueAt: new Date(Date.now() + UNRECORDED_MS) };
}
