import { Context } from '@temporalio/activity';
import { cancelSms } from '../../db/sending/cancelled-deliveries.ts';
import { assertMessagesExist } from '../../db/sending/direct-messages.ts';
import type { DeferredMessage, LastAttempt } from '../../rules/emails/last-attempt.ts';
import type { ActivityDeps } from '../deps.ts';
import { toDeliveryId } from '../emails/delivery-id.ts';
import { withHeartbeats } from '../heartbeats.ts';
import type { SmsAttempts } from './attempts.ts';

/**
 * The number of SMS that one activity sends at the same time. If the process is killed, at most this many SMS are sent
 * twice. Providers accept about ten SMS a second from a sender.
 */
const AT_A_TIME = 10;
/** After this time, an activity starts no further group of SMS, so that it ends long before Temporal's timeout. */
const TAKE_MS = 5 * 60_000;

export interface SendSmsInput {
  projectId: string;
  ids: string[];
  /** ISO 8601. SMS that are still deferred at this instant are marked as failed. */
  expiresAt: string;
}

export interface SendSmsResult {
  sent: number;
  other: number;
  waiting: DeferredMessage[];
}

export type SmsActivities = ReturnType<typeof createSmsDeliveryActivities>;

export const createSmsDeliveryActivities = ({ db, smsAttempts }: Pick<ActivityDeps, 'db' | 'smsAttempts'>) => ({
  /**
   * Sends a group of SMS that were not sent at the first attempt. Returns the SMS that have to wait, and until when.
   * Safe to run again: a settled SMS is not sent again. An SMS without a recorded result is sent again.
   */
  async sendSms(input: SendSmsInput): Promise<SendSmsResult> {
    const deliveryId = toDeliveryId(Context.current().info);
    await assertMessagesExist(db, { kind: 'sms', projectId: input.projectId, ids: input.ids });
    return withHeartbeats((stop) => sendGroup(smsAttempts, input, { deliveryId, stop }));
  },

  /** Marks as failed all SMS that a cancelled delivery has not sent. Returns their number. Safe to run twice. */
  async giveUpSms({ projectId, ids }: { projectId: string; ids: string[] }): Promise<number> {
    return cancelSms(db, { projectId, ids, deliveryId: toDeliveryId(Context.current().info) });
  },
});

/** @param p.stop aborted when the delivery is cancelled or the worker stops; no further SMS is sent afterwards */
async function sendGroup(
  { attempt }: SmsAttempts,
  { projectId, ids, expiresAt }: SendSmsInput,
  { deliveryId, stop }: { deliveryId: string; stop: AbortSignal },
): Promise<SendSmsResult> {
  const result: SendSmsResult = { sent: 0, other: 0, waiting: [] };
  const untilMs = Date.now() + TAKE_MS;
  let remaining = ids.map((id) => ({ id, deliveryId }));
  while (remaining.length > 0 && !stop.aborted && Date.now() < untilMs) {
    const messages = remaining.slice(0, AT_A_TIME);
    remaining = remaining.slice(AT_A_TIME);
    for (const sms of await attempt({ projectId, messages, expiresAt: new Date(expiresAt) })) {
      if (sms.outcome.kind === 'accepted') result.sent += 1;
      else if ('dueAt' in sms.outcome) result.waiting.push(toDeferredSms(sms.id, sms.outcome));
      else result.other += 1;
    }
  }
  const dueAt = new Date().toISOString();
  result.waiting.push(...remaining.map(({ id }) => ({ id, dueAt })));
  return result;
}

function toDeferredSms(id: string, { dueAt, last }: { dueAt: Date; last?: LastAttempt }): DeferredMessage {
  return { id, dueAt: dueAt.toISOString(), ...(last && { last }) };
}
