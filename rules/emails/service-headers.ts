import { EMAIL_PROVIDERS } from './email-providers.ts';

/**
 * Names by which servers and mailboxes tell where a mail comes from, what it passed, whom it is for and how to leave:
 * they say what the service knows, so only it, or a server on the way, writes them.
 */
const OF_SERVERS =
  /^(?:authentication-results|received|resent-.*|return-path|sender|dkim-signature|arc-.*|list-unsubscribe.*)$/i;
/** Those of every provider: the server of SMTP_URL may be one that hands mail on to any of them. */
const OF_PROVIDERS = Object.values(EMAIL_PROVIDERS).flatMap(({ controlHeaders }): readonly string[] => controlHeaders);

/** Whether a header of a mail is not for a tenant to set. */
export function isReservedMailHeader(name: string): boolean {
  return OF_SERVERS.test(name) || isProviderHeader(name);
}

/** Tells whether a header steers a provider. */
export function isProviderHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return OF_PROVIDERS.some((prefix) => lower.startsWith(prefix));
}
