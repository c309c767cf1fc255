import { ActivityCancellationType, continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/deliveries.ts';
import { type DeliveryState, deliver, newDelivery } from './delivery-loop.ts';

/**
 * A group leaves within seconds, a throttled one gives its place back. The heartbeat tells of a dead worker; trying again for ever is
 * safe because each mail is claimed and settled by its row, and right because the mails were accepted.
 */
const { sendMails } = proxyActivities<DeliveryActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '15 minutes',
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
 * Delivers a group of single mails: an activity sends them, what the provider refused for now waits by a timer and is tried again until it
 * is sent or has expired. How many wait, and until when, is in the current details.
 */
export async function emailDelivery(input: EmailDeliveryInput): Promise<string> {
  const { projectId, emailIds } = input;
  return deliver({
    state: input.carried ?? newDelivery(emailIds),
    noun: 'mails',
    attempt: (due, expiresAt) => {
      const mails = due.map(({ id, paid }) => ({ id, paid }));
      return sendMails.executeWithOptions({ summary: `${mails.length} mails` }, [{ projectId, mails, expiresAt }]);
    },
    continueWith: (carried) => continueAsNew<typeof emailDelivery>({ projectId, emailIds: [], carried }),
    giveUp: (ids) => giveUpMails.executeWithOptions({ summary: `${ids.length} mails` }, [{ projectId, ids }]),
  });
}
