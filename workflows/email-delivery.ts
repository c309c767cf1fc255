import { continueAsNew } from '@temporalio/workflow';
import { pluralize } from '../rules/pluralize.ts';
import { giveUpMails, sendMails } from './delivery-activities.ts';
import { createDelivery, type DeliveryState, runDelivery } from './delivery-loop.ts';

const formatEmailCount = (emails: number) => pluralize(emails, 'email');

export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  carried?: DeliveryState;
}

/**
 * Delivers a group of single emails that their first attempt did not send, for example because the provider deferred
 * them or the worker was killed. A worker makes the first attempt without a workflow. This workflow waits with a timer
 * until an email is due, and then runs an activity that sends the email. It ends when no email has to wait for another
 * attempt. The current details show how many emails wait, and until when.
 */
export async function emailDelivery(input: EmailDeliveryInput): Promise<string> {
  const { projectId, emailIds } = input;
  return runDelivery({
    state: input.carried ?? createDelivery(emailIds),
    formatCount: formatEmailCount,
    attempt: (due, expiresAt) => {
      const mails = due.map(({ id }) => ({ id }));
      const summary = formatEmailCount(mails.length);
      return sendMails.executeWithOptions({ summary }, [{ projectId, mails, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof emailDelivery>({ projectId, emailIds: [], carried }),
    giveUp: (ids) => giveUpMails.executeWithOptions({ summary: formatEmailCount(ids.length) }, [{ projectId, ids }]),
  });
}
