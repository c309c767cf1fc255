/**
 * A mailbox that every domain has (RFC 5321 §4.5.1), at a domain that none of our relays delivers to directly. A probe
 * names this recipient and sends no message.
 */
const PROBE_RECIPIENT = 'postmaster@gmail.com';

/**
 * Returns the envelope of a probe, which checks whether a relay accepts our email: from our return path to a remote
 * mailbox.
 */
export function probeEnvelope(returnPathHost: string): { from: string; to: string } {
  return { from: `postmaster@${returnPathHost}`, to: PROBE_RECIPIENT };
}
