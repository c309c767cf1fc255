import { ActivityCancellationType } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/emails/deliveries.ts';
import type { SmsActivities } from '../activities/sms/deliveries.ts';
import { activitiesOn } from './activities-on.ts';

type Activities = DeliveryActivities & SmsActivities;

/**
 * An activity starts messages for at most five minutes and then frees its slot. The timeout also covers a relay that
 * takes ten minutes to reply to the last message, so Temporal never starts a second attempt beside a slow one. The
 * heartbeat reveals a dead worker. Retries are unlimited, because the messages were accepted, and safe, because each
 * message is claimed and settled in its row.
 */
export const { sendMails, sendSms } = activitiesOn<Activities>('transactional', {
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  // A cancel waits until the messages on the wire are recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Retries through any outage of Postgres, because until this succeeds the messages look as if they were being sent.
 * Safe to repeat.
 */
export const { giveUpMails, giveUpSms } = activitiesOn<Activities>('transactional', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
