import { continueAsNew } from '@temporalio/workflow';
import { giveUpMails, sendMails } from './delivery-activities.ts';
import { type DeliveryState, deliver, newDelivery } from './delivery-loop.ts';

export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  carried?: DeliveryState;
}

/**
 * Delivers a group of single mails that did not go at the first attempt, which a worker makes by itself: each waits by
 * a timer until it is due, an activity sends them, and so on until they are sent or have expired. How many wait, and
 * until when, is in the current details.
 */
export async function emailDelivery(input: EmailDeliveryInput): Promise<string> {
  const { projectId, emailIds } = input;
  return deliver({
    state: input.carried ?? newDelivery(emailIds),
    noun: 'mails',
    attempt: (due, expiresAt) => {
      const mails = due.map(({ id }) => ({ id }));
      return sendMails.executeWithOptions({ summary: `${mails.length} mails` }, [{ projectId, mails, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof emailDelivery>({ projectId, emailIds: [], carried }),
    giveUp: (ids) => giveUpMails.executeWithOptions({ summary: `${ids.length} mails` }, [{ projectId, ids }]),
  });
}
