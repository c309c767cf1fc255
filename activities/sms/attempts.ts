import type { SmsProvider } from '../../channels/sms/provider.ts';
import type { Db, Trx } from '../../db/connection.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { type ClaimedSms, claimSms, releaseSms, type SmsOutcome, settleSms } from '../../db/sms/ledger.ts';
import { addProviderStop } from '../../db/sms/stops.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findWindowOpening } from '../../rules/campaigns/gate.ts';
import type { LastAttempt } from '../../rules/emails/last-attempt.ts';
import { postponeExpiry } from '../../rules/emails/postponed-expiry.ts';
import { nextAttemptAt } from '../../rules/emails/retry-schedule.ts';
import { padHmacKey } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import { logMessageEnd } from '../message-end.ts';
import { retryPersistently } from '../persistently.ts';

/**
 * If Postgres stays unreachable until the last retry, the result of an SMS is lost, and the delivery workflow claims
 * the SMS again after this time. The SMS is then most likely sent twice.
 */
const UNRECORDED_MS = 30_000;

/** The outcome of one SMS of a batch, in the same form as `EmailAttemptResult`. */
export interface SmsAttemptResult {
  id: string;
  outcome:
    | { kind: 'accepted' | 'failed' | 'absent' }
    | { kind: 'deferred'; dueAt: Date; last: LastAttempt }
    | { kind: 'unrecorded'; dueAt: Date }
    /** The SMS was not attempted, because its sending window is closed until `dueAt`. */
    | { kind: 'outside_window'; dueAt: Date };
}

/**
 * A function that runs in the transaction that records the outcome of an SMS. The function returns the outbox rows that
 * it has added. The processes that start the work of these rows are woken after the commit.
 */
export type SmsSettleHook = (trx: Trx, attempted: SmsAttemptResult) => Promise<OutboxRow[]>;

interface Batch {
  projectId: string;
  messages: { id: string; deliveryId: string }[];
  /**
   * SMS that are still deferred at this instant are marked as failed. The time during which an SMS's sending window was
   * closed does not count.
   */
  expiresAt: Date;
  whenSettled?: SmsSettleHook;
}

export interface SmsAttempts {
  /**
   * Attempts each SMS of the batch once, all at the same time. The results have the same order as the SMS. Safe to run
   * again: an SMS that is settled, or that another delivery has claimed, is not sent.
   */
  attempt(batch: Batch): Promise<SmsAttemptResult[]>;
}

interface SmsDeps {
  db: Db;
  provider: SmsProvider | undefined;
  outbox: OutboxWaker;
  endLog: SampledLog;
  /** The key of the SMS stop list, derived from SECRET_KEY. */
  suppressionKey: Buffer;
}

/**
 * Creates the attempts at SMS. The worker uses them for the first attempt, directly from the outbox, and the delivery
 * workflow uses them for all later attempts.
 * @param deps.provider undefined while SMS is switched off; accepted SMS are then deferred, and fail when they expire
 */
export function createSmsAttempts(deps: SmsDeps): SmsAttempts {
  const pads = padHmacKey(deps.suppressionKey);
  return {
    async attempt(batch) {
      const { projectId, messages } = batch;
      const claimed = await claimSms(deps.db, { projectId, messages, pads });
      // Waits for all attempts even if one of them fails. Otherwise the remaining attempts would continue after this
      // function has failed, and the retry would send their SMS twice.
      const results = await Promise.allSettled(claimed.map((sms) => attemptSms(deps, sms, batch)));
      const outcomes = new Map(
        results.map((result, n): [string | undefined, SmsAttemptResult | undefined] => [
          claimed[n]?.id,
          result.status === 'fulfilled' ? result.value : undefined,
        ]),
      );
      const dueAt = new Date(Date.now() + UNRECORDED_MS);
      return messages.map(({ id }) => {
        if (!outcomes.has(id)) return { id, outcome: { kind: 'absent' } };
        return outcomes.get(id) ?? { id, outcome: { kind: 'unrecorded', dueAt } };
      });
    },
  };
}

async function attemptSms(
  { db, provider, outbox, endLog, suppressionKey }: SmsDeps,
  sms: ClaimedSms,
  batch: Batch,
): Promise<SmsAttemptResult> {
  const { id, projectId, claim } = sms;
  const { whenSettled } = batch;
  // A stop is recorded at once, also while the window is closed.
  const dueAt = sms.consents && !sms.advanced ? findWindowOpening(sms.clock, Date.now()) : undefined;
  if (dueAt) {
    await releaseSms(db, sms);
    return { id, outcome: { kind: 'outside_window', dueAt } };
  }
  const route = provider?.kind ?? 'none';
  const expiresAt = postponeExpiry(batch.expiresAt, sms.clock, Date.now());
  const { outcome, attempted } = decideOutcome(sms, await callProvider(provider, sms), { expiresAt, route });
  const { counted, outbox: queued } = await retryPersistently(() =>
    inTransaction(db, async (trx) => {
      // The provider refused the SMS because the recipient has sent a STOP that we did not receive. The stop is
      // recorded before the outcome of the SMS, because transactions must lock contacts before SMS.
      if (sms.consents && outcome.kind === 'failed' && outcome.reason === 'sms_stopped')
        await addProviderStop(trx, suppressionKey, sms);
      const counted = await settleSms(trx, { projectId, id, claim, outcome });
      const queued = counted && whenSettled ? await whenSettled(trx, attempted) : [];
      return { counted, outbox: queued };
    }),
  );
  outbox.wake(queued);
  if (counted && outcome.kind !== 'deferred') {
    const end = outcome.kind === 'failed' ? outcome : { kind: 'sent', reason: null };
    logMessageEnd(endLog, { projectId, kind: 'sms', id, outcome: end.kind, reason: end.reason });
  }
  return attempted;
}

/** The outcome of an attempt. `status` contains only codes, because Temporal shows it. */
type SendOutcome = Exclude<SmsOutcome, { kind: 'deferred' }> | { kind: 'deferred'; error: string; status: string };

/**
 * Decides the outcome of an SMS. An SMS that the provider deferred is attempted again later, or has failed if no
 * attempt is left before `expiresAt`.
 */
function decideOutcome(
  sms: ClaimedSms,
  outcome: SendOutcome,
  { expiresAt, route }: { expiresAt: Date; route: string },
): { outcome: SmsOutcome; attempted: SmsAttemptResult } {
  const { id, attempts } = sms;
  if (outcome.kind === 'accepted') return { outcome, attempted: { id, outcome: { kind: 'accepted' } } };
  if (outcome.kind === 'failed') return { outcome, attempted: { id, outcome: { kind: 'failed' } } };
  const dueAt = nextAttemptAt({ attempts, now: new Date(), expiresAt, random: Math.random() });
  const last = { attempt: attempts, status: outcome.status, route };
  if (dueAt) return { outcome, attempted: { id, outcome: { kind: 'deferred', dueAt, last } } };
  return {
    outcome: { kind: 'failed', reason: 'expired', error: outcome.error },
    attempted: { id, outcome: { kind: 'failed' } },
  };
}

async function callProvider(provider: SmsProvider | undefined, sms: ClaimedSms): Promise<SendOutcome> {
  if (!sms.consents) return { kind: 'failed', reason: 'sms_stopped', error: null };
  if (sms.mode === 'test') return { kind: 'accepted', status: 'SENT', providerMessageId: null };
  if (!provider) return { kind: 'deferred', error: 'SMS is not enabled on the worker', status: 'SMS off' };
  const sent = await provider.send(sms);
  switch (sent.outcome) {
    case 'accepted':
      return { kind: 'accepted', status: sent.status, providerMessageId: sent.providerMessageId };
    case 'refused':
      return { kind: 'failed', reason: sent.reason, error: sent.error };
    case 'later':
      return { kind: 'deferred', error: sent.error, status: sent.status };
  }
}
