import type { DnsAnswer, MxRecord } from '../domains/dns.ts';

/**
 * The period of the guards. A guard is a limit for hard bounces or complaints within this period. A project that
 * reaches a guard is put on hold. Source: contract §9.8 Hold.
 */
export const GUARD_HOURS = 24;
/** The default guards, as fractions of 1. A project may set lower guards, but only the operator may set higher ones. */
export const GUARD_DEFAULTS = { bounceGuard: 0.1, complaintGuard: 0.003 } as const;
const BOUNCES_MIN_EMAILS = 200;
const COMPLAINTS_MIN_EMAILS = 1_000;
/**
 * The number of most recent emails to one mailbox provider that the guard checks. If the provider refuses
 * `REFUSALS_MAX` of them because of the sender, the project is put on hold.
 */
export const RECENT_EMAILS = 100;
const REFUSALS_MAX = 20;
/**
 * The tolerance for floating-point errors. Without it, a share that exactly reaches a guard would not count: `0.1 * 30`
 * is slightly more than 3.
 */
const ROUNDING = 1e-9;
/**
 * Matches characters that a hostname cannot contain. These characters are replaced in the name of a provider from a DNS
 * response, because the name is shown to users and sent to them by email.
 */
const NO_HOSTNAME_CHARS = /[^a-z0-9._-]/g;

/** Counts of a project's emails in the last 24 hours. */
export interface SendOutcomes {
  emails: number;
  /** Emails that were refused or returned because the mailbox does not exist. */
  dead: number;
  complaints: number;
}

/**
 * Checks the bounce guard and the complaint guard, which are fractions of 1. If one is reached, and the project has
 * sent enough emails for this guard, returns the reason for a hold of the project, as text for its owner. Undefined if
 * none is reached.
 */
export function describeBrokenGuard(
  { emails, dead, complaints }: SendOutcomes,
  guards: { bounceGuard: number; complaintGuard: number },
): string | undefined {
  const reachesLimit = (n: number, guard: number) => n > 0 && n >= guard * emails - ROUNDING;
  const of = `of ${emails} emails within ${GUARD_HOURS} hours`;
  if (emails >= BOUNCES_MIN_EMAILS && reachesLimit(dead, guards.bounceGuard)) return `${dead} ${of} were hard bounces`;
  if (emails >= COMPLAINTS_MIN_EMAILS && reachesLimit(complaints, guards.complaintGuard))
    return `${complaints} ${of} were reported as spam`;
  return undefined;
}

/**
 * Checks the refusals of one mailbox provider. If the provider refused at least `REFUSALS_MAX` of the recent emails,
 * returns the reason for a hold of the project. Undefined if it refused fewer emails.
 */
export function describeBrokenRefusalGuard(p: { provider: string; refused: number }): string | undefined {
  if (p.refused < REFUSALS_MAX) return undefined;
  return `${p.provider} refused ${p.refused} of the last ${RECENT_EMAILS} emails because of the sender`;
}

/**
 * Returns the mailbox provider of a domain: the last two labels of its MX host, or the domain itself if it has no MX
 * record (contract §9.7 Refusals).
 */
export function findMailboxProvider(domain: string, result: DnsAnswer<MxRecord>): string {
  const records = result.kind === 'found' ? result.records : [];
  const [first] = [...records].sort((a, b) => a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1));
  const name = first?.exchange ? first.exchange.split('.').slice(-2).join('.') : domain;
  return name.toLowerCase().replace(NO_HOSTNAME_CHARS, '?');
}
