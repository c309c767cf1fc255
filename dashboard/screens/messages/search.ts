import type { InputOf } from '../../api/client.ts';

export type EmailQuery = NonNullable<InputOf<'listEmails'>['query']>;
export type SmsQuery = NonNullable<InputOf<'listSms'>['query']>;

/** Filters of an email list, as in the URL of the screen. Dates are days, `YYYY-MM-DD`. */
export type EmailSearch = Pick<
  EmailQuery,
  | 'to'
  | 'status'
  | 'sourceType'
  | 'reason'
  | 'happened'
  | 'mode'
  | 'since'
  | 'until'
  | 'workflowExecutionId'
  | 'contactId'
  | 'templateId'
>;
export type SmsSearch = Pick<
  SmsQuery,
  'to' | 'status' | 'sourceType' | 'contactId' | 'workflowExecutionId' | 'since' | 'until'
>;

/** Reasons to filter emails by. */
export const EMAIL_REASONS = [
  ...(['unsubscribed', 'unsubscribed:topic', 'unconfirmed', 'frequency_capped', 'too_late', 'limit_reached'] as const),
  ...(['sender_not_verified', 'template_error', 'provider_rejected', 'expired', 'cancelled'] as const),
  ...(['left_audience', 'contact_deleted', 'step_deleted'] as const),
  ...(['suppressed:hard_bounce', 'suppressed:complaint', 'suppressed:unsubscribe', 'suppressed:manual'] as const),
  ...(['bounced:dead_mailbox', 'bounced:mailbox_for_now', 'bounced:policy'] as const),
  ...(['bounced:message', 'bounced:routing', 'bounced:unknown'] as const),
] satisfies EmailQuery['reason'][];

export const EMAIL_VIEWS = ['mail', 'text', 'headers', 'source', 'events'] as const;
export type EmailView = (typeof EMAIL_VIEWS)[number];

const EMAIL_KEYS = [
  ...(['to', 'status', 'sourceType', 'reason', 'happened'] as const),
  ...(['mode', 'since', 'until', 'workflowExecutionId', 'contactId', 'templateId'] as const),
];
const SMS_KEYS = ['to', 'status', 'sourceType', 'contactId', 'workflowExecutionId', 'since', 'until'] as const;

/** Reads the filters from the query of a URL. Skips values that are not text or numbers; the API checks the others. */
export function readEmailSearch(query: Record<string, unknown>): EmailSearch {
  return pickText(query, EMAIL_KEYS) as EmailSearch;
}

export function readSmsSearch(query: Record<string, unknown>): SmsSearch {
  return pickText(query, SMS_KEYS) as SmsSearch;
}

function pickText(query: Record<string, unknown>, keys: readonly string[]): Record<string, string> {
  const entries = keys.flatMap((key) => {
    const value = query[key];
    // The router parses a phone number or a year as a number.
    return typeof value === 'string' || typeof value === 'number' ? [[key, String(value)] as const] : [];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns the filters for the API, with days as instants. Days start and end in the viewer's time zone. */
export function toApiQuery<Search extends { since?: string; until?: string }>(search: Search): Search {
  const { since, until } = search;
  return {
    ...search,
    ...(since && DAY.test(since) && { since: new Date(`${since}T00:00:00`).toISOString() }),
    ...(until && DAY.test(until) && { until: new Date(`${until}T23:59:59.999`).toISOString() }),
  };
}
