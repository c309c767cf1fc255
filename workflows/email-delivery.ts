import { continueAsNew } from '@temporalio/workflow';
import { pluralize } from '../rules/pluralize.ts';
import { giveUpMails, sendMails } from './delivery-activities.ts';
import { createDelivery, type DeliveryState, deliver } from './delivery-loop.ts';

const countEmails = (emails: number) => pluralize(emails, 'email');

export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  carried?: DeliveryState;
}

/**
 * Delivers a group of single emails that the provider deferred at their first attempt. A worker makes the first attempt
 * without a workflow. This workflow waits with a timer until an email is due, and then runs an activity that sends the
 * email. It ends when every email is sent or has expired. The current details show how many emails wait, and until
 * when.
 */
export async function emailDelivery(input: EmailDeliveryInput): Promise<string> {
  const { projectId, emailIds } = input;
  return deliver({
    state: input.carried ?? createDelivery(emailIds),
    count: countEmails,
    attempt: (due, expiresAt) => {
      const mails = due.map(({ id }) => ({ id }));
      return sendMails.executeWithOptions({ summary: countEmails(mails.length) }, [{ projectId, mails, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof emailDelivery>({ projectId, emailIds: [], carried }),
    giveUp: (ids) => giveUpMails.executeWithOptions({ summary: countEmails(ids.length) }, [{ projectId, ids }]),
  });
}
