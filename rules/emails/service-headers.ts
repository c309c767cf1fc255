import { EMAIL_PROVIDERS } from './email-providers.ts';

/**
 * Headers about the sender of an email, its path through servers, its recipient, and how to unsubscribe. Only this
 * service and mail servers may write them.
 */
const SERVER_HEADER =
  /^(?:authentication-results|received|resent-.*|return-path|sender|dkim-signature|arc-.*|list-unsubscribe.*)$/i;
/**
 * Headers that control a provider. The headers of all providers are reserved, because the server of SMTP_URL may
 * forward email to any provider.
 */
const PROVIDER_PREFIXES = Object.values(EMAIL_PROVIDERS).flatMap(
  ({ controlHeaders }): readonly string[] => controlHeaders,
);

/** Tells whether a tenant may not set a header of an email. */
export function isReservedMailHeader(name: string): boolean {
  return SERVER_HEADER.test(name) || isProviderHeader(name);
}

/** Headers for which `/v1/send` has a field, with the name of the field. */
const FIELD_BY_HEADER: ReadonlyMap<string, string> = new Map(
  Object.entries({
    from: 'from',
    to: 'to',
    cc: 'cc',
    bcc: 'bcc',
    subject: 'subject',
    'reply-to': 'replyTo',
  }),
);
/**
 * Matches a message id without comments and spaces. A longer message id would not fit into a line. Source: RFC 5322
 * §3.6.4.
 */
const MESSAGE_ID = /^<[^<>@\s\u0080-\uffff]{1,400}@[^<>@\s\u0080-\uffff]{1,400}>$/;
const LANGUAGES = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*(?:\s*,\s*[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)*$/;

/** Returns an error message if a caller may not set this header. Undefined if the header is sent unchanged. */
export function findHeaderError(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  if (isReservedMailHeader(name)) return 'This header is set by the service and by mail servers only';
  const field = FIELD_BY_HEADER.get(lower);
  if (field) return `Use the field \`${field}\` in place of this header`;
  if (lower === 'date') return 'The service sets this header when it sends the email';
  if (lower === 'message-id') return MESSAGE_ID.test(value.trim()) ? undefined : MESSAGE_ID_NEEDED;
  if (lower === 'in-reply-to' || lower === 'references') {
    return value
      .trim()
      .split(/\s+/)
      .every((id) => MESSAGE_ID.test(id))
      ? undefined
      : `${MESSAGE_ID_NEEDED}, or several with spaces between them`;
  }
  if (lower === 'content-language')
    return LANGUAGES.test(value.trim()) ? undefined : 'Must be a language tag such as en-GB';
  if (/^(?:mime-version|content-.*|dkim-.*)$/.test(lower))
    return 'The service sets this header for the parts of the message';
  return undefined;
}

const MESSAGE_ID_NEEDED = 'Must be a message id such as <order-4711@shop.example.com>';

/** Tells whether a header controls the account with a provider. */
export function isProviderHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return PROVIDER_PREFIXES.some((prefix) => lower.startsWith(prefix));
}
