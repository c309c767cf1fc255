import { continueAsNew } from '@temporalio/workflow';
import { pluralize } from '../rules/pluralize.ts';
import { giveUpMails, sendMails } from './delivery-activities.ts';
import { type DeliveryState, deliver, newDelivery } from './delivery-loop.ts';

const countEmails = (emails: number) => pluralize(emails, 'email');

export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  carried?: DeliveryState;
}

/**
 * Delivers a group of single emails whose first attempt was deferred; a worker makes the first attempt without a
 * workflow. Waits for each email by a timer, then an activity sends it, until it is sent or has expired. The current
 * details show how many emails wait, and until when.
 */
export async function emailDelivery(input: EmailDeliveryInput): Promise<string> {
  const { projectId, emailIds } = input;
  return deliver({
    state: input.carried ?? newDelivery(emailIds),
    count: countEmails,
    attempt: (due, expiresAt) => {
      const mails = due.map(({ id }) => ({ id }));
      return sendMails.executeWithOptions({ summary: countEmails(mails.length) }, [{ projectId, mails, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof emailDelivery>({ projectId, emailIds: [], carried }),
    giveUp: (ids) => giveUpMails.executeWithOptions({ summary: countEmails(ids.length) }, [{ projectId, ids }]),
  });
}
