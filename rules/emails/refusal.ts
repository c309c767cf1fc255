/**
 * Classifies refusals of mail servers. A refusal is about us, about the message, or about the recipient. The types keep
 * the three separate: only `AboutRecipient` can bounce an email, suppress an address or unsubscribe a contact. Source:
 * contract §9.7 Refusals.
 */

import { codeClass, type RefusalClass, wordClass } from './refusal-table.ts';

/**
 * The command of an SMTP session that a server refused. From `connect` to `auth` the refusal is about the session, later
 * about the email.
 */
export type SessionStage = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message';

/** `dsn` is a delivery status notification: another server accepted the email and could not deliver it. */
export type RefusalStage = SessionStage | 'dsn';

export interface Reply {
  /** Null if only an enhanced status is known, as in many notifications. */
  code: number | null;
  enhanced: string | null;
  /** The server's reply, with or without the codes before it. */
  text: string;
  stage: RefusalStage;
}

/**
 * A refusal of the login, our account, our quota, our addresses or our reputation. It says nothing about the recipient.
 */
export interface AboutUs {
  about: 'us';
  /**
   * `session`: the server refuses the connection. `account`: it does not send for this login or sender. `policy`: it
   * does not want this sender. `unclear`: the reply gives no reason.
   */
  why: 'session' | 'account' | 'policy' | 'unclear';
  /** True if the email waits and is retried. Otherwise the email fails, unless its route is paused. */
  retry: boolean;
}

/** A refusal of the size, the form or the content. It says nothing about the recipient. */
export interface AboutMessage {
  about: 'message';
  retry: boolean;
}

/** The address has no mailbox, or an abandoned one. */
export interface DeadMailbox {
  about: 'recipient';
  why: 'dead_mailbox';
  bounceType: 'Permanent';
  retry: false;
}

/** The mailbox is full, the server busy, or unreachable. It says nothing permanent about the address. */
export interface RecipientForNow {
  about: 'recipient';
  why: 'mailbox_for_now' | 'routing' | 'unknown';
  bounceType: 'Transient';
  retry: boolean;
}

export type AboutRecipient = DeadMailbox | RecipientForNow;
export type Refusal = AboutUs | AboutMessage | AboutRecipient;

/** Codes with which a server requests a login, in reply to any command, often to MAIL or RCPT (RFC 4954 §4 and §6). */
const LOGIN_CODES: ReadonlySet<number | null> = new Set([530, 534, 535, 538]);
/** RFC 7504: the host accepts no email at all, regardless of the enhanced code. */
const HOST_TAKES_NO_MAIL = 521;

const HAS_CODES = /^\s*(?:smtp;\s*)?(?:([245]\d\d)(?:[\s-]+|$))?(?:#?([245]\.\d{1,3}\.\d{1,3})(?:[\s:-]+|$))?/i;
/**
 * qmail and Exchange write the enhanced code after the text or before the quoted reply: `(#5.1.1)`. Others quote the
 * reply of the next server: `550 5.1.1`.
 */
const CODE_IN_WORDS = /(?:#|\b[45]\d\d[ -])([245]\.\d{1,3}\.\d{1,3})\b(?!\.\d)/;
const QUOTES_REPLY = /^.*?(?:^|: )[2-5]\d\d(?:[ -]#?[245]\.\d{1,3}\.\d{1,3})?(?=\s|$)/s;
/**
 * The maximum length of text that is read. The first words decide, and a hostile text must not make the patterns run
 * for minutes.
 */
const MAX_TEXT = 2000;

/** Tells whether a refusal at this stage is about the session, so that nothing is said about the email. */
export function isSessionStage(stage: RefusalStage): boolean {
  return stage === 'connect' || stage === 'ehlo' || stage === 'starttls' || stage === 'auth';
}

/** Tells whether a server requests a login with this code. */
export function isLoginCode(code: number): boolean {
  return LOGIN_CODES.has(code);
}

/** Classifies one refusal from any source: SMTP replies, SES errors, notifications and reports. */
export function judgeRefusal(reply: Reply): Refusal {
  if (isSessionStage(reply.stage)) return { about: 'us', why: 'session', retry: true };
  const isTried = reply.stage !== 'dsn';
  const forNow = isForNow(reply);
  if (LOGIN_CODES.has(reply.code)) return { about: 'us', why: 'account', retry: isTried };
  switch (classOf(reply)) {
    case 'account':
      return { about: 'us', why: 'account', retry: isTried };
    case 'policy':
      return { about: 'us', why: 'policy', retry: isTried && forNow };
    case 'message':
      return { about: 'message', retry: isTried && forNow };
    case 'mailbox_for_now':
      return { about: 'recipient', why: 'mailbox_for_now', bounceType: 'Transient', retry: isTried };
    case 'dead_mailbox':
      return forNow ? transient('mailbox_for_now', isTried) : DEAD_MAILBOX;
    case 'routing':
      // The first hop is ours. If it finds no route, its configuration is the likely reason.
      if (isTried) return { about: 'us', why: 'unclear', retry: forNow };
      return transient('routing', false);
    case undefined:
      if (isTried) return { about: 'us', why: 'unclear', retry: forNow };
      return transient(forNow ? 'mailbox_for_now' : 'unknown', false);
  }
}

const DEAD_MAILBOX: DeadMailbox = { about: 'recipient', why: 'dead_mailbox', bounceType: 'Permanent', retry: false };

/**
 * The result for a report about another address than the email's recipient, such as the target of a forward. It proves
 * nothing about the recipient.
 */
export const ABOUT_ANOTHER_ADDRESS: RecipientForNow = {
  about: 'recipient',
  why: 'unknown',
  bounceType: 'Transient',
  retry: false,
};

function transient(why: RecipientForNow['why'], retry: boolean): RecipientForNow {
  return { about: 'recipient', why, bounceType: 'Transient', retry };
}

/** Parses `550 5.1.1 words` or a Diagnostic-Code (`smtp; 550-5.1.1 words`, RFC 3464 §2.3.6). */
export function parseDiagnostic(text: string): { code: number | null; enhanced: string | null; text: string } {
  const match = HAS_CODES.exec(text);
  const code = match?.[1] ? Number(match[1]) : null;
  return { code, enhanced: match?.[2] ?? null, text: text.slice(match?.[0].length ?? 0).trim() };
}

/** Cuts a text after the codes of the reply that it quotes: `left us: 421 4.3.2 words` ends at `4.3.2`. */
export function cutAfterReplyCodes(text: string): string {
  return QUOTES_REPLY.exec(text)?.[0] ?? text;
}

/** The enhanced code decides if it is specific. Otherwise the text of the reply decides. */
function classOf({ code, enhanced, text, stage }: Reply): RefusalClass | undefined {
  const start = text.slice(0, MAX_TEXT);
  const status = enhanced ?? CODE_IN_WORDS.exec(start)?.[1] ?? null;
  const byWords = wordClass(start, code);
  // Postfix also replies 521 to a message with bare line feeds.
  const takesNoMail = code === HOST_TAKES_NO_MAIL && byWords?.class !== 'message';
  const found = takesNoMail ? 'policy' : codeClass(status, byWords);
  if (stage !== 'mail') return found;
  // At MAIL no recipient was named yet, so the server can only mean us or the message.
  return found === 'message' ? found : 'account';
}

/**
 * A 4xx is never permanent, whatever its text: `450 4.1.1 user unknown` comes from a server whose directory is down.
 */
function isForNow({ code, enhanced }: Reply): boolean {
  if (code !== null && code < 500) return true;
  return enhanced?.startsWith('4.') ?? false;
}
