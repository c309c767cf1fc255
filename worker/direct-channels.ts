import type { ActivityDeps } from '../activities/deps.ts';
import type { EmailAttemptResult } from '../activities/emails/attempts.ts';
import type { SettleHook } from '../activities/emails/settler.ts';
import { createSimulatedFeedback } from '../activities/emails/simulated-feedback.ts';
import type { SmsAttemptResult } from '../activities/sms/attempts.ts';
import type { TakenRow } from '../db/outbox/outbox.ts';
import { finishFirstAttempts, handOverMessages, type MessageKind } from '../db/sending/direct-messages.ts';
import { inTransaction } from '../db/transaction.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { LARGE_EMAIL_PRIORITY, OUTBOX_PRIORITY } from '../rules/outbox.ts';
import type { DirectChannel, RowAction } from './direct-sender.ts';

type Deps = Pick<ActivityDeps, 'db' | 'outbox' | 'emailAttempts' | 'smsAttempts'>;

/**
 * Returns the channel that sends single emails. The channel takes a few more rows than the limit of emails in flight
 * (activities/emails/mailer.ts), so that the next emails are claimed before a slot is free.
 */
export function createEmailChannel(deps: Deps): DirectChannel {
  const { emailAttempts } = deps;
  /**
   * Deletes or hands over the outbox rows of settled emails. All batches pass this same function, so that the settler
   * calls it once for all emails of a transaction.
   */
  const whenSettled: SettleHook<undefined> = async (trx, settled) => {
    const later = settled.flatMap(({ email, outcome }) =>
      outcome.kind === 'deferred' ? [{ id: email.id, dueAt: outcome.dueAt, last: outcome.last }] : [],
    );
    const done = settled.flatMap(({ email, outcome }) => (outcome.kind === 'deferred' ? [] : [email.id]));
    const projectId = settled[0]?.email.projectId ?? '';
    const outbox = await finishFirstAttempts(trx, { kind: 'email', projectId, done, later });
    return { values: settled.map(() => undefined), outbox };
  };
  return {
    name: 'emails',
    priority: OUTBOX_PRIORITY['email.deliver'],
    maxInFlight: 80,
    maxPerProject: 50,
    attempt: async (projectId, rows, stop) => {
      const emails = rows.map(toMessage);
      const attempted = await emailAttempts.attempt({
        projectId,
        emails,
        expiresAt: computeMessageExpiry(),
        stop,
        whenSettled,
      });
      return toActions(rows, attempted);
    },
    handOver: (projectId, rows) => handOver(deps, { kind: 'email', projectId, rows }),
  };
}

/**
 * Returns the channel that sends single emails with large files. The channel takes at most 4 rows, because at most 4
 * large emails may be in memory at the same time (compute/compute.ts). The other rows stay in the outbox and delay no
 * other email.
 */
export function createLargeEmailChannel(deps: Deps): DirectChannel {
  return {
    ...createEmailChannel(deps),
    name: 'large emails',
    priority: LARGE_EMAIL_PRIORITY,
    maxInFlight: 4,
    maxPerProject: 2,
  };
}

/**
 * Returns the channel that sends SMS. Its limit is low, because providers accept about ten SMS a second from a sender.
 */
export function createSmsChannel(deps: Deps): DirectChannel {
  const { smsAttempts } = deps;
  return {
    name: 'SMS',
    priority: OUTBOX_PRIORITY['sms.deliver'],
    maxInFlight: 20,
    maxPerProject: 10,
    attempt: async (projectId, rows) => {
      const attempted = await smsAttempts.attempt({
        projectId,
        messages: rows.map(toMessage),
        expiresAt: computeMessageExpiry(),
        whenSettled: async (trx, sms) => {
          const { outcome } = sms;
          const later = outcome.kind === 'deferred' ? [{ id: sms.id, dueAt: outcome.dueAt, last: outcome.last }] : [];
          const done = outcome.kind === 'deferred' ? [] : [sms.id];
          return finishFirstAttempts(trx, { kind: 'sms', projectId, done, later });
        },
      });
      return toActions(rows, attempted);
    },
    handOver: (projectId, rows) => handOver(deps, { kind: 'sms', projectId, rows }),
  };
}

/** Returns the channel that records the simulator's feedback when it is due, in the same way as real feedback. */
export function createSimulatedFeedbackChannel(
  deps: Pick<ActivityDeps, 'config' | 'db' | 'compute' | 'outbox' | 'log'>,
): DirectChannel {
  const record = createSimulatedFeedback(deps);
  return {
    name: 'simulated answers',
    priority: OUTBOX_PRIORITY['email.simulated'],
    maxInFlight: 200,
    maxPerProject: 100,
    attempt: async (projectId, rows) => {
      await record(projectId, rows);
      return rows.map((row) => ({ row, action: 'none' }));
    },
    // One transaction removes the outbox row and records the feedback. An interrupted attempt has committed nothing, so
    // this function repeats the attempt instead of handing the row to Temporal.
    handOver: (projectId, rows) =>
      record(
        projectId,
        rows.map(({ row }) => row),
      ),
  };
}

async function handOver(
  { db, outbox }: Deps,
  p: { kind: MessageKind; projectId: string; rows: { row: TakenRow; dueAt: Date }[] },
): Promise<void> {
  const { kind, projectId } = p;
  const messages = p.rows.map(({ row, dueAt }) => ({ id: row.refId, dueAt }));
  outbox.wake(await inTransaction(db, (trx) => handOverMessages(trx, { kind, projectId, messages })));
}

/**
 * Returns the message of an outbox row. The id of the row serves as the id of the delivery. If a worker is killed, the
 * worker that takes the row next can therefore claim the same message again.
 */
function toMessage({ refId, id }: TakenRow): { id: string; deliveryId: string } {
  return { id: refId, deliveryId: id };
}

/**
 * Returns when a message expires: one day from now, because this is the message's first attempt. The time that the
 * message has waited in the outbox does not count.
 */
function computeMessageExpiry(): Date {
  return new Date(Date.now() + DELIVERY_EXPIRES_MS);
}

function toActions(rows: TakenRow[], attempted: (EmailAttemptResult | SmsAttemptResult)[]): RowAction[] {
  return rows.flatMap((row, n): RowAction[] => {
    const outcome = attempted[n]?.outcome;
    switch (outcome?.kind) {
      case 'absent':
        return [{ row, action: 'delete' }];
      case 'throttled':
        return [{ row, action: 'release', dueAt: outcome.dueAt }];
      case 'outside_window':
        return [{ row, action: 'hand_over', dueAt: outcome.dueAt }];
      case 'stopped':
        return [{ row, action: 'release', dueAt: new Date() }];
      // The row stays claimed until its lease expires. The next worker that takes the row then hands it to Temporal.
      case 'unrecorded':
      case undefined:
        return [];
      default:
        return [{ row, action: 'none' }];
    }
  });
}
