import { Context } from '@temporalio/activity';
import type { SmsProvider } from '../channels/sms/provider.ts';
import { cancelSms } from '../db/cancelled-deliveries.ts';
import type { Db } from '../db/connection.ts';
import { type ClaimedSms, claimSms, type SmsOutcome, settleSms } from '../db/sms-ledger.ts';
import { nextAttemptAt } from '../domain/retry-schedule.ts';
import type { WaitingMail } from './deliveries.ts';
import { deliveryIdOf } from './delivery-id.ts';

/** SMS under way at a time, which is what a kill can double: providers take about ten a second from a sender. */
const AT_A_TIME = 10;
/** Far below the heartbeat timeout of the workflow. */
const HEARTBEAT_MS = 3_000;

export interface SendSmsInput {
  projectId: string;
  ids: string[];
  /** ISO 8601: what is refused for now after this is given up. */
  expiresAt: string;
}

export interface SendSmsResult {
  sent: number;
  other: number;
  waiting: WaitingMail[];
}

export type SmsActivities = ReturnType<typeof smsActivities>;

/** `provider` is undefined where SMS has been switched off: what was accepted before waits for it to come back. */
export const smsActivities = ({ db, smsProvider }: { db: Db; smsProvider: SmsProvider | undefined }) => ({
  /** Sends a group of SMS; answers which have to wait until when. May run again: rows are claimed by their delivery. */
  async sendSms(input: SendSmsInput): Promise<SendSmsResult> {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    try {
      const stop = context.cancellationSignal;
      return await sendGroup({ db, smsProvider, stop }, input, deliveryIdOf(context.info));
    } finally {
      clearInterval(beat);
    }
  },

  /** Ends what a cancelled delivery has not delivered; returns how many. May run again. */
  async giveUpSms({ projectId, ids }: { projectId: string; ids: string[] }): Promise<number> {
    return cancelSms(db, { projectId, ids, deliveryId: deliveryIdOf(Context.current().info) });
  },
});

interface GroupDeps {
  db: Db;
  smsProvider: SmsProvider | undefined;
  /** Aborted when the delivery is cancelled or the worker stops: no further SMS are taken. */
  stop: AbortSignal;
}

async function sendGroup(deps: GroupDeps, input: SendSmsInput, deliveryId: string): Promise<SendSmsResult> {
  const { projectId, ids } = input;
  const result: SendSmsResult = { sent: 0, other: 0, waiting: [] };
  for (let at = 0; at < ids.length; at += AT_A_TIME) {
    const batch = ids.slice(at, at + AT_A_TIME);
    if (deps.stop.aborted) {
      result.waiting.push(...batch.map((id) => ({ id, dueAt: new Date().toISOString(), paid: false })));
      continue;
    }
    const claimed = await claimSms(deps.db, { projectId, ids: batch, deliveryId });
    result.other += batch.length - claimed.length;
    await Promise.all(claimed.map((sms) => sendOne(deps, sms, new Date(input.expiresAt), result)));
  }
  return result;
}

async function sendOne(deps: GroupDeps, sms: ClaimedSms, expiresAt: Date, result: SendSmsResult): Promise<void> {
  let outcome = await attempt(deps.smsProvider, sms);
  if (outcome.kind === 'later') {
    const dueAt = nextAttemptAt({ attempts: sms.attempts, now: new Date(), expiresAt, random: Math.random() });
    if (dueAt) result.waiting.push({ id: sms.id, dueAt: dueAt.toISOString(), paid: true });
    else outcome = { kind: 'failed', reason: 'expired', error: outcome.error };
  }
  if (outcome.kind === 'accepted') result.sent += 1;
  if (outcome.kind === 'failed') result.other += 1;
  await settleSms(deps.db, { projectId: sms.projectId, id: sms.id, claim: sms.claim, outcome });
}

async function attempt(provider: SmsProvider | undefined, sms: ClaimedSms): Promise<SmsOutcome> {
  if (!sms.consents) return { kind: 'failed', reason: 'unsubscribed', error: null };
  if (sms.mode === 'test') return { kind: 'accepted', status: 'SENT', providerMessageId: null };
  if (!provider) return { kind: 'later', error: 'SMS is not enabled on the worker' };
  const sent = await provider.send(sms);
  switch (sent.outcome) {
    case 'accepted':
      return { kind: 'accepted', status: sent.status, providerMessageId: sent.providerMessageId };
    case 'refused':
      return { kind: 'failed', reason: 'provider_rejected', error: sent.error };
    case 'later':
      return { kind: 'later', error: sent.error };
  }
}
