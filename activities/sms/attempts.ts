import type { SmsProvider } from '../../channels/sms/provider.ts';
import type { Db, Trx } from '../../db/connection.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { type ClaimedSms, claimSms, type SmsOutcome, settleSms } from '../../db/sms/ledger.ts';
import { addSmsStops } from '../../db/sms/stops.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { LastAttempt } from '../../rules/emails/last-attempt.ts';
import { nextAttemptAt } from '../../rules/emails/retry-schedule.ts';
import { keyPads } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import { logMessageEnd } from '../message-end.ts';
import { retryPersistently } from '../persistently.ts';

/**
 * The wait before an SMS is claimed again, if Postgres was unreachable for longer than its result is kept. The SMS is
 * then most likely sent twice.
 */
const UNRECORDED_MS = 30_000;

/** The outcome of one SMS of a batch, in the same form as `Attempted` of emails. */
export interface AttemptedSms {
  id: string;
  outcome:
    | { kind: 'accepted' | 'failed' | 'absent' }
    | { kind: 'deferred'; dueAt: Date; last: LastAttempt }
    | { kind: 'unrecorded'; dueAt: Date };
}

/**
 * Work in the transaction that records the outcome of an SMS. It returns the outbox rows that it has added; the
 * processes that take them are woken after the commit.
 */
export type SmsSettleHook = (trx: Trx, attempted: AttemptedSms) => Promise<OutboxRow[]>;

interface Batch {
  projectId: string;
  messages: { id: string; deliveryId: string }[];
  /** SMS that are still deferred at this instant are marked as failed. */
  expiresAt: Date;
  whenSettled?: SmsSettleHook;
}

export interface SmsAttempts {
  /**
   * Attempts each of a project's SMS once, all at the same time. The results are in the order of the SMS. Safe to run
   * twice: each SMS is claimed and settled by its row.
   */
  attempt(batch: Batch): Promise<AttemptedSms[]>;
}

interface SmsDeps {
  db: Db;
  provider: SmsProvider | undefined;
  outbox: OutboxWaker;
  ends: SampledLog;
  /** The key of the SMS stop list, derived from SECRET_KEY. */
  suppressionKey: Buffer;
}

/**
 * Attempts SMS, for the worker that took their rows and for Temporal's retries alike.
 * @param deps.provider undefined while SMS is switched off; accepted SMS wait until it is switched on again
 */
export function createSmsAttempts(deps: SmsDeps): SmsAttempts {
  const pads = keyPads(deps.suppressionKey);
  return {
    async attempt(batch) {
      const { projectId, messages } = batch;
      const claimed = await claimSms(deps.db, { projectId, messages, pads });
      // Waits for all attempts even if one fails. The others would otherwise continue unnoticed, and the retry would
      // send them twice.
      const tried = await Promise.allSettled(claimed.map((sms) => sendOne(deps, sms, batch)));
      const outcomes = new Map(
        tried.map((one, n): [string | undefined, AttemptedSms | undefined] => [
          claimed[n]?.id,
          one.status === 'fulfilled' ? one.value : undefined,
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

async function sendOne(
  { db, provider, outbox, ends, suppressionKey }: SmsDeps,
  sms: ClaimedSms,
  { expiresAt, whenSettled }: Batch,
): Promise<AttemptedSms> {
  const { id, projectId, claim } = sms;
  const route = provider?.kind ?? 'none';
  const { outcome, attempted } = judge(sms, await attemptOne(provider, sms), { expiresAt, route });
  const { counted, outbox: queued } = await retryPersistently(() =>
    inTransaction(db, async (trx) => {
      // The provider knows of a STOP that we did not receive. It is recorded first, because contacts are locked before
      // their SMS.
      if (sms.consents && outcome.kind === 'failed' && outcome.reason === 'sms_stopped')
        await addSmsStops(trx, suppressionKey, {
          projectId,
          stops: [{ phone: sms.to, from: sms.from, source: 'twilio', actor: null }],
        });
      const counted = await settleSms(trx, { projectId, id, claim, outcome });
      const queued = counted && whenSettled ? await whenSettled(trx, attempted) : [];
      return { counted, outbox: queued };
    }),
  );
  outbox.wake(queued);
  if (counted && outcome.kind !== 'deferred') {
    const end = outcome.kind === 'failed' ? outcome : { kind: 'sent', reason: null };
    logMessageEnd(ends, { projectId, kind: 'sms', id, outcome: end.kind, reason: end.reason });
  }
  return attempted;
}

/** The result of an attempt. `status` has only codes, because Temporal shows it. */
type Answer = Exclude<SmsOutcome, { kind: 'deferred' }> | { kind: 'deferred'; error: string; status: string };

/** Defers an SMS, or marks it as failed after a day. */
function judge(
  sms: ClaimedSms,
  outcome: Answer,
  { expiresAt, route }: { expiresAt: Date; route: string },
): { outcome: SmsOutcome; attempted: AttemptedSms } {
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

async function attemptOne(provider: SmsProvider | undefined, sms: ClaimedSms): Promise<Answer> {
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
