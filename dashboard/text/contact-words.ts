import type { Word } from './word.ts';

/** States of bulk jobs and imports. */
export const job: Record<string, Word> = {
  QUEUED: { means: 'Waiting to start.', color: 'yellow' },
  RUNNING: { means: 'In progress.', color: 'blue' },
  COMPLETED: { means: 'Finished. The result shows how many failed.', color: 'green' },
  FAILED: { means: 'Stopped early. Completed changes are kept.', color: 'red' },
  CANCELLED: { label: 'Canceled', means: 'Canceled. Completed changes are kept.', color: 'gray' },
};

/** Subscription states of contacts. */
export const subscription: Record<string, Word> = {
  subscribed: { means: 'Gets marketing email.', color: 'green' },
  unsubscribed: { means: 'Gets no marketing email.', color: 'gray' },
  pending: { means: 'Has not confirmed the subscription yet. Gets no marketing email until then.', color: 'yellow' },
};

/** Why an address is on the suppression list. */
export const suppression: Record<string, Word> = {
  hard_bounce: { means: 'The mailbox does not exist. Stops all email.', color: 'red' },
  complaint: { means: 'The contact marked an email as spam. Stops marketing email.', color: 'red' },
  unsubscribe: { means: 'The contact unsubscribed. Stops marketing email.', color: 'gray' },
  manual: { means: 'Added manually or with the API. Stops all email.', color: 'gray' },
};

/** Why a subscription changed. */
export const change: Record<string, Word> = {
  own_choice: { means: 'The contact used a subscription page or a link in an email.', color: 'gray' },
  public_key: { means: 'A form or page on your site used the publishable key.', color: 'gray' },
  resubscribed: { means: 'A request subscribed the contact again after they had unsubscribed.', color: 'orange' },
  job: { means: 'An import or a bulk action.', color: 'gray' },
  workflow: { means: 'A step of an automation.', color: 'gray' },
  request: { means: 'A member in the dashboard, or a program with the API.', color: 'gray' },
  bounce: { means: 'An email bounced permanently.', color: 'red' },
  complaint: { means: 'The contact marked an email as spam.', color: 'red' },
};
