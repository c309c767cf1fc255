import { ActivityCancellationType, continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { SmsActivities } from '../activities/sms-deliveries.ts';
import { type DeliveryState, deliver, newDelivery } from './delivery-loop.ts';

/** As for mails: each SMS is claimed and settled by its row, so trying again is safe. */
const { sendSms } = proxyActivities<SmsActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  // A cancel waits until what was on the wire is recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** However long Postgres is away: until then the messages are under way to everybody who asks. Safe to repeat. */
const { giveUpSms } = proxyActivities<SmsActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

export interface SmsDeliveryInput {
  projectId: string;
  smsIds: string[];
  carried?: DeliveryState;
}

/** Delivers a group of SMS that did not go at the first attempt, which a worker makes by itself; tries again for a day at most. */
export async function smsDelivery(input: SmsDeliveryInput): Promise<string> {
  const { projectId, smsIds } = input;
  return deliver({
    state: input.carried ?? newDelivery(smsIds),
    noun: 'SMS',
    attempt: (due, expiresAt) => {
      const ids = due.map(({ id }) => id);
      return sendSms.executeWithOptions({ summary: `${ids.length} SMS` }, [{ projectId, ids, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof smsDelivery>({ projectId, smsIds: [], carried }),
    giveUp: (ids) => giveUpSms.executeWithOptions({ summary: `${ids.length} SMS` }, [{ projectId, ids }]),
  });
}
