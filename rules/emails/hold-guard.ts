import type { DnsAnswer, MxRecord } from '../domains/dns.ts';

/** When the service itself puts a project's sending on hold. Source: contract §9.8. */
export const GUARD_HOURS = 24;
/** Shares of 1. A project may tighten its guards and not loosen them beyond these; the operator may. */
export const GUARD_DEFAULTS = { bounceGuard: 0.1, complaintGuard: 0.003 } as const;
const BOUNCES_MIN_MAILS = 200;
const COMPLAINTS_MIN_MAILS = 1_000;
/** The last mails to one mailbox provider, and how many of them it may refuse because of the sender. */
export const RECENT_MAILS = 100;
const REFUSALS_MAX = 20;
/** `0.1 * 30` is a little more than 3: a share that is reached must not be missed by a rounding error. */
const ROUNDING = 1e-9;
/** What a hostname is made of; anything else in an answer of the DNS stays out of texts that are shown and sent. */
const NO_HOSTNAME_CHARS = /[^a-z0-9._-]/g;

/** What became of a project's mails over the last 24 hours. */
export interface SendOutcomes {
  mails: number;
  /** Refused or returned because nobody reads there. */
  dead: number;
  complaints: number;
}

/**
 * Why these outcomes put the project on hold, in words for its owner; undefined where they do not. The guards are
 * shares of 1.
 */
export function brokenGuard(
  { mails, dead, complaints }: SendOutcomes,
  guards: { bounceGuard: number; complaintGuard: number },
): string | undefined {
  const reached = (n: number, guard: number) => n > 0 && n >= guard * mails - ROUNDING;
  const of = `of ${mails} mails within ${GUARD_HOURS} hours`;
  if (mails >= BOUNCES_MIN_MAILS && reached(dead, guards.bounceGuard)) return `${dead} ${of} went to dead mailboxes`;
  if (mails >= COMPLAINTS_MIN_MAILS && reached(complaints, guards.complaintGuard))
    return `${complaints} ${of} were reported as spam`;
  return undefined;
}

/** Why a mailbox provider's refusals put the project on hold; undefined where they do not. */
export function brokenByRefusals(p: { provider: string; refused: number }): string | undefined {
  if (p.refused < REFUSALS_MAX) return undefined;
  return `${p.provider} refused ${p.refused} of the last ${RECENT_MAILS} mails because of the sender`;
}

/**
 * Who runs the mailboxes of a domain: its MX host by the last two labels, the domain itself where DNS gives none
 * (contract §9.7).
 */
export function mailboxProviderOf(domain: string, answer: DnsAnswer<MxRecord>): string {
  const records = answer.kind === 'found' ? answer.records : [];
  const [first] = [...records].sort((a, b) => a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1));
  const name = first?.exchange ? first.exchange.split('.').slice(-2).join('.') : domain;
  return name.toLowerCase().replace(NO_HOSTNAME_CHARS, '?');
}
