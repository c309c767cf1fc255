/** The types of entries in an activity feed, in the order of the documentation (contract §8). */
export const ACTIVITY_TYPES = [
  'event.triggered',
  'email.sent',
  'email.delivered',
  'email.received',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complained',
  'sms.sent',
  'sms.delivered',
  'sms.failed',
  'sms.received',
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
  'contact.subscribed',
  'contact.unsubscribed',
  'contact.unsubscribe_requested',
  'apikey.rotated',
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/**
 * Events of the service that have their own type in the activity feed. Any other event has the type `event.triggered`.
 */
export const ACTIVITY_EVENTS: Record<string, ActivityType> = {
  'email.sent': 'email.sent',
  'email.delivery': 'email.delivered',
  'email.received': 'email.received',
  'email.open': 'email.opened',
  'email.click': 'email.clicked',
  'email.bounce': 'email.bounced',
  'email.complaint': 'email.complained',
  'sms.received': 'sms.received',
  'contact.subscribed': 'contact.subscribed',
  'contact.unsubscribed': 'contact.unsubscribed',
  'contact.unsubscribe_requested': 'contact.unsubscribe_requested',
};
