import type { EmailStatus } from '../../../rules/emails/email-status.ts';
import { REASONS } from '../../../rules/emails/reasons.ts';
import { HOUR_MS } from './world.ts';

/** The result of a sample email. */
export interface SampleOutcome {
  status: EmailStatus;
  reason?: string;
  error?: string;
}

/** Reasons that only executions and SMS have. */
const NO_MAIL = ['step_deleted', 'no_phone', 'sms_stopped', 'not_mobile', 'invalid_number', 'exited_on_event'];
const WAITING: SampleOutcome[] = [{ status: 'PENDING' }, { status: 'SENDING' }, { status: 'HELD' }];
const ENDED: SampleOutcome[] = REASONS.filter((reason) => !NO_MAIL.includes(reason)).map((reason) =>
  reason.startsWith('bounced:')
    ? { status: 'BOUNCED', reason, error: '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown' }
    : { status: 'FAILED', reason, ...(reason === 'provider_rejected' && { error: '554 5.7.1 Message refused' }) },
);
const COMMON: SampleOutcome[] = [
  ...(['DELIVERED', 'OPENED', 'SENT', 'OPENED', 'CLICKED', 'DELIVERED', 'OPENED', 'DELIVERED'] as const).map(
    (status) => ({ status }),
  ),
];

const RARE: SampleOutcome[] = [{ status: 'COMPLAINED' }, ...ENDED];

/** Returns the nth result: first every result once, then the common results. With `over`, no email is waiting. */
export function pickOutcome(n: number, { over = true }: { over?: boolean } = {}): SampleOutcome {
  const rare = over ? RARE : [...RARE, ...WAITING];
  return rare[n] ?? (!over && n % 2 === 0 ? { status: 'PENDING' } : (COMMON[n % COMMON.length] as SampleOutcome));
}

/**
 * Returns the nth result of a campaign that has ended: first every result once, then the results of a usual project.
 */
export function pickEndedOutcome(n: number): SampleOutcome {
  return RARE[n] ?? pickUsualOutcome(n);
}

/**
 * Returns the result of an email in a healthy project: one in 80 bounces, all others arrive.
 * @param opened share of the emails that are opened; a seventh of them is clicked
 */
export function pickHealthyOutcome(n: number, opened = 0.44): SampleOutcome {
  if (n % 80 === 79) return { status: 'BOUNCED', reason: 'bounced:dead_mailbox' };
  // Spreads the opened emails over the list, because 61 and 100 have no common factor.
  if ((n * 61) % 100 >= opened * 100) return { status: 'DELIVERED' };
  return { status: n % 7 === 0 ? 'CLICKED' : 'OPENED' };
}

/** Returns the result of an email in a usual project: most arrive, rules skip some, and some bounce. */
export function pickUsualOutcome(n: number): SampleOutcome {
  if (n % 16 === 5) return { status: 'FAILED', reason: 'unsubscribed' };
  if (n % 24 === 9) return { status: 'FAILED', reason: 'frequency_capped' };
  if (n % 60 === 31) return { status: 'FAILED', reason: 'unsubscribed:topic' };
  if (n % 40 === 19) return { status: 'BOUNCED', reason: 'bounced:dead_mailbox' };
  return pickHealthyOutcome(n);
}

/** Within this time, all opens of an email happen, unless the caller gives another. */
const OPEN_MINUTES = 590;
/** The minutes before now in which no email is opened, because its click and its complaint follow. */
const REST_MINUTES = 20;

/** Returns the time within which all opens of an email happen, so that no open is in the future. */
function getOpenMinutes(sentAt: Date): number {
  const minutes = (60 * (Date.now() - sentAt.getTime())) / HOUR_MS;
  return Math.max(0, Math.min(OPEN_MINUTES, minutes - REST_MINUTES));
}

/**
 * Returns the columns with an email's result; `sentAt` is its time of sending, if it was sent.
 * @param openMinutes the time within which all opens happen
 */
export function toOutcomeColumns(
  { status, reason, error }: SampleOutcome,
  sentAt: Date,
  n: number,
  openMinutes = getOpenMinutes(sentAt),
) {
  const after = (minutes: number) => new Date(sentAt.getTime() + (minutes * HOUR_MS) / 60);
  const wasSent = !['PENDING', 'SENDING', 'HELD', 'FAILED'].includes(status) && reason !== 'bounced:policy';
  const wasOpened = status === 'OPENED' || status === 'CLICKED';
  // Most emails that are opened at all are opened in the first hours.
  const openedAfter = 12 + Math.round(openMinutes * (((n * 37) % 600) / 600) ** 3);
  return {
    status,
    reason: reason ?? null,
    error: error ?? null,
    attempts: wasSent || error ? 1 + (n % 2) : 0,
    sent_at: wasSent ? sentAt : null,
    delivered_at: wasSent && status !== 'BOUNCED' && status !== 'SENT' ? after(0.2) : null,
    opened_at: wasOpened ? after(openedAfter) : null,
    clicked_at: status === 'CLICKED' ? after(openedAfter + 2) : null,
    bounced_at: status === 'BOUNCED' ? after(0.3) : null,
    complained_at: status === 'COMPLAINED' ? after(20) : null,
    failed_at: status === 'FAILED' ? after(wasSent ? 1 : 0.1) : null,
    unsubscribed_at: wasOpened && n % 41 === 0 ? after(openedAfter + 3) : null,
    opens: wasOpened ? 1 + (n % 3) : 0,
    clicks: status === 'CLICKED' ? 1 + (n % 2) : 0,
    machine_opens: wasSent ? n % 2 : 0,
    machine_clicks: wasSent && n % 10 === 0 ? 1 : 0,
    provider_message_id: wasSent ? `0100018f-${String(n).padStart(6, '0')}` : null,
    ...(status === 'BOUNCED' && { bounce_type: reason === 'bounced:dead_mailbox' ? 'Permanent' : 'Transient' }),
  };
}
