import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { SmsActivities } from '../activities/sms-deliveries.ts';
import { type DeliveryState, deliver, newDelivery } from './delivery-loop.ts';

/** As for mails: each SMS is claimed and settled by its row, so trying again is safe. */
const { sendSms } = proxyActivities<SmsActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

export interface SmsDeliveryInput {
  projectId: string;
  smsIds: string[];
  carried?: DeliveryState;
}

/** Delivers a group of SMS, and tries again what the provider could not take, for a day at most. */
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
  });
}
