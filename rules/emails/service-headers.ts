import { EMAIL_PROVIDERS } from './email-providers.ts';

/**
 * Headers by which servers and mailboxes record where an email comes from, its path, its recipient and how to
 * unsubscribe. Only the service, or a server on the way, writes them.
 */
const OF_SERVERS =
  /^(?:authentication-results|received|resent-.*|return-path|sender|dkim-signature|arc-.*|list-unsubscribe.*)$/i;
/** Headers of every provider: the server of SMTP_URL may forward email to any of them. */
const OF_PROVIDERS = Object.values(EMAIL_PROVIDERS).flatMap(({ controlHeaders }): readonly string[] => controlHeaders);

/** Tells whether a tenant may not set a header of an email. */
export function isReservedMailHeader(name: string): boolean {
  return OF_SERVERS.test(name) || isProviderHeader(name);
}

/** Fields of `/v1/send` that replace headers. */
const FIELDS_OF_HEADERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    from: 'from',
    to: 'to',
    cc: 'cc',
    bcc: 'bcc',
    subject: 'subject',
    'reply-to': 'replyTo',
  }),
);
/** A message id without comments and spaces. A longer one would not fit into a line. Source: RFC 5322 §3.6.4. */
const MESSAGE_ID = /^<[^<>@\s\u0080-\uffff]{1,400}@[^<>@\s\u0080-\uffff]{1,400}>$/;
const LANGUAGES = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*(?:\s*,\s*[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)*$/;

/** Returns why an email cannot carry a caller's header. Undefined if it is sent as given. */
export function headerProblem(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  if (isReservedMailHeader(name)) return 'This header is set by the service and by mail servers only';
  const field = FIELDS_OF_HEADERS.get(lower);
  if (field) return `Use the field \`${field}\` in place of this header`;
  if (lower === 'date') return 'The service sets it when the email leaves';
  if (lower === 'message-id') return MESSAGE_ID.test(value.trim()) ? undefined : NO_ID;
  if (lower === 'in-reply-to' || lower === 'references') {
    return value
      .trim()
      .split(/\s+/)
      .every((id) => MESSAGE_ID.test(id))
      ? undefined
      : `${NO_ID}, or several with spaces between them`;
  }
  if (lower === 'content-language')
    return LANGUAGES.test(value.trim()) ? undefined : 'Must be a language tag such as en-GB';
  if (/^(?:mime-version|content-.*|dkim-.*)$/.test(lower)) return 'The service sets it for the parts of the message';
  return undefined;
}

const NO_ID = 'Must be a message id such as <order-4711@shop.example.com>';

/** Tells whether a header controls a provider. */
export function isProviderHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return OF_PROVIDERS.some((prefix) => lower.startsWith(prefix));
}
