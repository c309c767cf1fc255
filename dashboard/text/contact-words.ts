import type { Word } from './word.ts';

/** States of bulk jobs and imports. */
export const job: Record<string, Word> = {
  QUEUED: { means: 'Waits for its turn.', color: 'yellow' },
  RUNNING: { means: 'At work.', color: 'blue' },
  COMPLETED: { means: 'Finished. Failures are counted.', color: 'green' },
  FAILED: { means: 'Ended early. Finished parts stay.', color: 'red' },
  CANCELLED: { means: 'Ended by an operator. Finished parts stay.', color: 'gray' },
};

/** Subscription states of contacts. */
export const subscription: Record<string, Word> = {
  subscribed: { means: 'Gets marketing mail.', color: 'green' },
  unsubscribed: { means: 'Gets no marketing mail.', color: 'gray' },
  pending: { means: 'Was asked to confirm the subscription, and gets no marketing mail until then.', color: 'yellow' },
};

/** Why an address is on the suppression list. */
export const suppression: Record<string, Word> = {
  hard_bounce: { means: 'The mailbox does not exist. Stops all mail.', color: 'red' },
  complaint: { means: 'Marked an email as spam. Stops marketing email.', color: 'red' },
  unsubscribe: { means: 'The person unsubscribed. Stops marketing mail.', color: 'gray' },
  manual: { means: 'Put there by hand or by the API. Stops all mail.', color: 'red' },
};

/** Why a subscription changed. */
export const change: Record<string, Word> = {
  own_choice: { means: 'The person used a page or a link in an email.', color: 'gray' },
  public_key: { means: 'A form or page of yours said so, by the public key.', color: 'gray' },
  resubscribed: { means: 'A request subscribed the contact again after their own refusal.', color: 'orange' },
  job: { means: 'An import or a change of many contacts.', color: 'gray' },
  workflow: { means: 'A step of an automation.', color: 'gray' },
  request: { means: 'A member in the dashboard, or a program by the API.', color: 'gray' },
  bounce: { means: 'An email hard-bounced.', color: 'red' },
  complaint: { means: 'Marked an email as spam.', color: 'red' },
};
