import type { DnsAnswer, MxRecord } from '../domains/dns.ts';

/** The period of the guards that put a project's sending on hold. Source: contract §9.8 Hold. */
export const GUARD_HOURS = 24;
/** Fractions of 1. A project may tighten its guards, but only the operator may loosen them beyond these values. */
export const GUARD_DEFAULTS = { bounceGuard: 0.1, complaintGuard: 0.003 } as const;
const BOUNCES_MIN_EMAILS = 200;
const COMPLAINTS_MIN_EMAILS = 1_000;
/**
 * The number of recent emails to one mailbox provider. It may refuse fewer than `REFUSALS_MAX` of them because of the
 * sender.
 */
export const RECENT_EMAILS = 100;
const REFUSALS_MAX = 20;
/** Prevents a rounding error from missing a reached share: `0.1 * 30` is slightly more than 3. */
const ROUNDING = 1e-9;
/** Characters of a hostname. Other characters in a DNS response are removed from text that is shown or sent. */
const NO_HOSTNAME_CHARS = /[^a-z0-9._-]/g;

/** Outcomes of a project's emails over the last 24 hours. */
export interface SendOutcomes {
  emails: number;
  /** Refused or returned because the mailbox does not exist. */
  dead: number;
  complaints: number;
}

/**
 * Returns why these outcomes put the project on hold, as text for its owner. Undefined if they do not. The guards are
 * fractions of 1.
 */
export function brokenGuard(
  { emails, dead, complaints }: SendOutcomes,
  guards: { bounceGuard: number; complaintGuard: number },
): string | undefined {
  const reached = (n: number, guard: number) => n > 0 && n >= guard * emails - ROUNDING;
  const of = `of ${emails} emails within ${GUARD_HOURS} hours`;
  if (emails >= BOUNCES_MIN_EMAILS && reached(dead, guards.bounceGuard)) return `${dead} ${of} were hard bounces`;
  if (emails >= COMPLAINTS_MIN_EMAILS && reached(complaints, guards.complaintGuard))
    return `${complaints} ${of} were reported as spam`;
  return undefined;
}

/** Returns why a mailbox provider's refusals put the project on hold. Undefined if they do not. */
export function brokenByRefusals(p: { provider: string; refused: number }): string | undefined {
  if (p.refused < REFUSALS_MAX) return undefined;
  return `${p.provider} refused ${p.refused} of the last ${RECENT_EMAILS} emails because of the sender`;
}

/**
 * Returns the operator of a domain's mailboxes: the last two labels of its MX host, or the domain itself without an
 * MX record (contract §9.7 Refusals).
 */
export function mailboxProviderOf(domain: string, answer: DnsAnswer<MxRecord>): string {
  const records = answer.kind === 'found' ? answer.records : [];
  const [first] = [...records].sort((a, b) => a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1));
  const name = first?.exchange ? first.exchange.split('.').slice(-2).join('.') : domain;
  return name.toLowerCase().replace(NO_HOSTNAME_CHARS, '?');
}
