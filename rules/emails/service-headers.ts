/**
 * Names by which servers and mailboxes tell where a mail comes from, what it passed, whom it is for and how to leave:
 * they say what the service knows, so only it, or a server on the way, writes them. `X-SES-*` would choose settings and
 * identities of the operator's account.
 */
const RESERVED =
  /^(?:x-ses-.*|authentication-results|received|resent-.*|return-path|sender|dkim-signature|arc-.*|list-unsubscribe.*)$/i;

/** Whether a header of a mail is not for a tenant to set. */
export function isReservedMailHeader(name: string): boolean {
  return RESERVED.test(name);
}
