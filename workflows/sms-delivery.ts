import { continueAsNew } from '@temporalio/workflow';
import { giveUpSms, sendSms } from './delivery-activities.ts';
import { createDelivery, type DeliveryState, runDelivery } from './delivery-loop.ts';

const formatSmsCount = (messages: number) => `${messages} SMS`;

export interface SmsDeliveryInput {
  projectId: string;
  smsIds: string[];
  carried?: DeliveryState;
}

/**
 * Delivers a group of SMS that their first attempt did not send, for example because the provider deferred them or the
 * worker was killed. A worker makes the first attempt without a workflow. Retries for at most a day, in which the time
 * outside the sending window does not count.
 */
export async function smsDelivery(input: SmsDeliveryInput): Promise<string> {
  const { projectId, smsIds } = input;
  return runDelivery({
    state: input.carried ?? createDelivery(smsIds),
    formatCount: formatSmsCount,
    attempt: (due, expiresAt) => {
      const ids = due.map(({ id }) => id);
      return sendSms.executeWithOptions({ summary: formatSmsCount(ids.length) }, [{ projectId, ids, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof smsDelivery>({ projectId, smsIds: [], carried }),
    giveUp: (ids) => giveUpSms.executeWithOptions({ summary: formatSmsCount(ids.length) }, [{ projectId, ids }]),
  });
}
