/**
 * A mailbox that every domain has (RFC 5321 §4.5.1), at a domain that no relay of ours is the last hop for. A probe asks
 * for it and sends nothing.
 */
const PROBE_RECIPIENT = 'postmaster@gmail.com';

/** Returns the envelope by which a relay is asked whether it takes our mail: from our return path to a far mailbox. */
export function probeEnvelope(returnPathHost: string): { from: string; to: string } {
  return { from: `postmaster@${returnPathHost}`, to: PROBE_RECIPIENT };
}
