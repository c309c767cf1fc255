import { ActivityCancellationType } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/emails/deliveries.ts';
import type { SmsActivities } from '../activities/sms/deliveries.ts';
import { activitiesOn } from './activities-on.ts';

type Activities = DeliveryActivities & SmsActivities;

/**
 * The activities that send messages. Five minutes after its start, an activity sends no further messages. It then waits
 * for the replies to the messages that it has sent, and ends. A relay may take ten minutes to reply, so the timeout is
 * longer than both times together. Temporal therefore never starts a second attempt while a slow attempt is running.
 * Temporal notices a dead worker by its missing heartbeats. Retries are unlimited, because the service has accepted the
 * messages. Retries are safe, because each message's row records which delivery has claimed the message, and its
 * result.
 */
export const { sendMails, sendSms } = activitiesOn<Activities>('transactional', {
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  // When the activity is cancelled, the workflow waits until the results of the messages on the wire are recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * The activities that mark the messages of a cancelled delivery as failed. Retries are unlimited, because until an
 * attempt succeeds, users see these messages as still being sent. Safe to repeat.
 */
export const { giveUpMails, giveUpSms } = activitiesOn<Activities>('transactional', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
