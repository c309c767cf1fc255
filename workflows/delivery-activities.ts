import { ActivityCancellationType } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/emails/deliveries.ts';
import type { SmsActivities } from '../activities/sms/deliveries.ts';
import { activitiesOn } from './activities-on.ts';

type Activities = DeliveryActivities & SmsActivities;

/**
 * A group takes messages for five minutes at most and gives its place back where it has to wait; this covers a relay
 * that takes ten minutes to answer the last of them, so that Temporal never starts a second attempt beside a slow one.
 * The heartbeat tells of a dead worker; trying again for ever is safe because each message is claimed and settled by
 * its row, and right because the messages were accepted.
 */
export const { sendMails, sendSms } = activitiesOn<Activities>('transactional', {
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  // A cancel waits until what was on the wire is recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** However long Postgres is away: until then the messages are under way to everybody who asks. Safe to repeat. */
export const { giveUpMails, giveUpSms } = activitiesOn<Activities>('transactional', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
