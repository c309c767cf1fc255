import { ActivityCancellationType, continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/deliveries.ts';
import { type DeliveryState, deliver, newDelivery } from './delivery-loop.ts';

/**
 * A group takes mails for five minutes at most and gives its place back where it has to wait; this covers a relay that takes ten minutes to answer the
 * last of them, so that Temporal never starts a second attempt beside a slow one. The heartbeat tells of a dead worker; trying again for
 * ever is safe because each mail is claimed and settled by its row, and right because the mails were accepted.
 */
const { sendMails } = proxyActivities<DeliveryActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  // A cancel waits until what was on the wire is recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** However long Postgres is away: until then the messages are under way to everybody who asks. Safe to repeat. */
const { giveUpMails } = proxyActivities<DeliveryActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  carried?: DeliveryState;
}

/**
 * Delivers a group of single mails that did not go at the first attempt, which a worker makes by itself: each waits by a timer until it is due, an
 * activity sends them, and so on until they are sent or have expired. How many wait, and until when, is in the current details.
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
