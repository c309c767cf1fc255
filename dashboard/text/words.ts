import type { StepType } from '../../packages/client/src/operations.generated.ts';
import { change, job, subscription, suppression } from './contact-words.ts';
import { delivery, endpoint } from './developer-words.ts';
import { audit, source } from './settings-words.ts';
import type { Word } from './word.ts';

const GOOD = 'green';
const UNDER_WAY = 'blue';
const WAITS = 'yellow';
const BAD = 'red';
const QUIET = 'gray';

/** States of emails. */
const email: Record<string, Word> = {
  PENDING: { means: 'Accepted and about to be sent.', color: UNDER_WAY },
  HELD: { means: 'Waits until sending resumes.', color: WAITS },
  SENDING: { means: 'Handed to the provider, which has not responded yet.', color: UNDER_WAY },
  SENT: { means: 'Accepted by the provider.', color: GOOD },
  DELIVERED: { means: 'Accepted by the recipient’s mail server.', color: GOOD },
  OPENED: { means: 'Opened by a human.', color: GOOD },
  CLICKED: { means: 'A human clicked a link.', color: GOOD },
  BOUNCED: { means: 'Permanently refused by the recipient’s mail server.', color: BAD },
  COMPLAINED: { means: 'Marked as spam by the recipient.', color: BAD },
  FAILED: { means: 'Not sent. See the reason.', color: BAD },
  RECEIVED: { means: 'Received at an address on a verified domain.', color: QUIET },
};

/** States of SMS. */
const sms: Record<string, Word> = {
  PENDING: { means: 'Accepted and about to be sent.', color: UNDER_WAY },
  QUEUED: { means: 'Handed to the provider, which has not sent it yet.', color: UNDER_WAY },
  SENT: { means: 'Handed to the carrier by the provider.', color: GOOD },
  DELIVERED: { means: 'Delivered to the phone.', color: GOOD },
  UNDELIVERED: { means: 'The carrier couldn’t deliver the message.', color: BAD },
  FAILED: { means: 'Not sent. See the reason.', color: BAD },
};

/** States of campaigns. */
const campaign: Record<string, Word> = {
  DRAFT: { means: 'Not sent yet. You can change everything.', color: QUIET },
  SCHEDULED: { means: 'Will be sent at the scheduled time.', color: WAITS },
  SENDING: { means: 'Sending, or waiting for the sending window.', color: UNDER_WAY },
  PAUSED: { means: 'Paused until you resume the campaign.', color: WAITS },
  SENT: { means: 'All recipients were processed.', color: GOOD },
  CANCELLED: { label: 'Canceled', means: 'Ended early.', color: QUIET },
};

/** States of executions and their steps. */
const execution: Record<string, Word> = {
  RUNNING: { means: 'Running a step.', color: UNDER_WAY },
  WAITING: { means: 'Waits for a time or an event.', color: WAITS },
  COMPLETED: { means: 'Reached the end of the automation.', color: GOOD },
  EXITED: { means: 'Exited the automation early, or at an exit step.', color: QUIET },
  FAILED: { means: 'A step failed. You can retry the run.', color: BAD },
  CANCELLED: { label: 'Canceled', means: 'Canceled by a member or with the API.', color: QUIET },
  SKIPPED: { means: 'The step did nothing for this contact. See the reason.', color: QUIET },
};

/** Types of steps. */
const step: Record<StepType, Word> = {
  SEND_EMAIL: { means: 'Sends an email.', color: UNDER_WAY },
  SEND_SMS: { label: 'Send SMS', means: 'Sends a text message.', color: UNDER_WAY },
  DELAY: { means: 'Waits for a duration, or until a time.', color: WAITS },
  WAIT_FOR_EVENT: { means: 'Waits for an event, or until a time limit.', color: WAITS },
  CONDITION: { label: 'If/else', means: 'Takes one of two branches, based on the contact’s data.', color: 'violet' },
  SPLIT: { label: 'Random split', means: 'Splits contacts randomly between branches.', color: 'violet' },
  WEBHOOK: { label: 'Call webhook', means: 'Calls your URL.', color: 'teal' },
  UPDATE_CONTACT: { means: 'Changes the contact’s data.', color: 'teal' },
  EXIT: { means: 'Ends the run.', color: QUIET },
};

/** Why a message was not sent, or why a run ended early. Bounce classes follow `bounced:`. */
const reason: Record<string, Word> = {
  not_subscribed: { means: 'The contact is not subscribed.', color: QUIET },
  unsubscribed: { means: 'The contact has unsubscribed.', color: QUIET },
  'unsubscribed:topic': { label: 'left the topic', means: 'The contact left this topic.', color: QUIET },
  unconfirmed: { means: 'The contact has not confirmed the subscription yet.', color: QUIET },
  frequency_capped: { label: 'frequency cap reached', means: 'The contact reached the frequency cap.', color: QUIET },
  too_late: { means: 'The local send time had passed.', color: QUIET },
  'suppressed:hard_bounce': { means: 'The address is suppressed because the mailbox does not exist.', color: QUIET },
  'suppressed:complaint': {
    means: 'The address is suppressed because of a spam complaint.',
    color: QUIET,
  },
  'suppressed:unsubscribe': { means: 'The address is suppressed because the contact unsubscribed.', color: QUIET },
  'suppressed:manual': { means: 'A member suppressed the address.', color: QUIET },
  left_audience: { means: 'The contact was no longer in the audience.', color: QUIET },
  contact_deleted: { means: 'The contact was deleted.', color: QUIET },
  step_deleted: { means: 'The step that would have sent it was deleted.', color: QUIET },
  sender_not_verified: { means: 'The domain of the sender is not verified.', color: BAD },
  provider_rejected: { means: 'The provider refused the message. Its reply says why.', color: BAD },
  limit_reached: { means: 'The monthly email limit was reached.', color: BAD },
  no_phone: { means: 'The contact has no phone number.', color: QUIET },
  sms_stopped: { label: 'replied STOP', means: 'The contact replied STOP.', color: QUIET },
  not_mobile: { means: 'The number is not a mobile number.', color: QUIET },
  invalid_number: { means: 'The phone number is not valid.', color: QUIET },
  expired: { means: 'The provider deferred the message for a day.', color: BAD },
  cancelled: { label: 'canceled', means: 'Canceled by a member.', color: QUIET },
  template_error: { means: 'The content couldn’t be rendered for this contact.', color: BAD },
  'bounced:dead_mailbox': { label: 'hard bounce', means: 'The mailbox does not exist.', color: BAD },
  'bounced:mailbox_for_now': {
    label: 'mailbox unavailable',
    means: 'The mailbox is full or temporarily unavailable.',
    color: BAD,
  },
  'bounced:policy': { label: 'refused: policy', means: 'The receiver refuses email from this sender.', color: BAD },
  'bounced:message': {
    label: 'refused: message',
    means: 'The receiver refuses this message, by size or content.',
    color: BAD,
  },
  'bounced:routing': { label: 'domain unreachable', means: 'The receiving domain can’t be reached.', color: BAD },
  'bounced:unknown': {
    label: 'refused: unknown reason',
    means: 'The receiver refused the email for an unknown reason.',
    color: BAD,
  },
  loop: { means: 'Too many steps, or a loop with too little waiting.', color: BAD },
  event_depth: { label: 'event loop', means: 'Events caused each other ten times in a row.', color: BAD },
  exited_on_event: { label: 'exit event', means: 'An event ended the run.', color: QUIET },
};

const WORDS = {
  email,
  sms,
  campaign,
  execution,
  step,
  reason,
  job,
  subscription,
  suppression,
  change,
  endpoint,
  delivery,
  audit,
  source,
};
export type WordKind = keyof typeof WORDS;

/** Explains an enum value of the API; undefined if there is no explanation. */
export function findWord(kind: WordKind, value: string): Word | undefined {
  const words: Record<string, Word> = WORDS[kind];
  return words[value];
}

/**
 * Returns the name of a status, reason or step type, such as "suppressed: hard bounce" for `suppressed:hard_bounce`.
 */
export function getLabel(kind: WordKind, value: string): string {
  const label = findWord(kind, value)?.label ?? value.replaceAll('_', ' ').replace(':', ': ');
  return (
    label.charAt(0).toUpperCase() + (label === label.toUpperCase() ? label.slice(1).toLowerCase() : label.slice(1))
  );
}

/** Returns all enum values of a kind that have an explanation, as the API writes them. */
export function listExplainedValues(kind: WordKind): string[] {
  return Object.keys(WORDS[kind]);
}
