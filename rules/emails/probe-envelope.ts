/**
 * The recipient of a probe (see `createProbeEnvelope`): a mailbox that every domain has (RFC 5321 §4.5.1), at a domain
 * that is not local to the operator's relay. A probe sends only the envelope, and no message.
 */
const PROBE_RECIPIENT = 'postmaster@gmail.com';

/**
 * Returns the envelope of a probe. A probe checks whether a relay accepts email from the service's return path to a
 * remote mailbox.
 */
export function createProbeEnvelope(returnPathHost: string): { from: string; to: string } {
  return { from: `postmaster@${returnPathHost}`, to: PROBE_RECIPIENT };
}
