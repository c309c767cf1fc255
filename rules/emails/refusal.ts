/**
 * Classifies refusals of mail servers. A refusal is about us (the sending service), about the message, or about the
 * recipient. Each has its own type: only `AboutRecipient` can bounce an email, suppress an address or unsubscribe a
 * contact. Source: contract §9.7 Refusals.
 */

import { classifyCode, classifyText, type RefusalClass } from './refusal-table.ts';

/**
 * The command of an SMTP session that a server refused. From `connect` to `auth`, the refusal is about the session.
 * From the command `mail` on, the refusal is about the email.
 */
export type SessionStage = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message';

/** `dsn` is a delivery status notification: another server accepted the email and could not deliver it. */
export type RefusalStage = SessionStage | 'dsn';

export interface Reply {
  /** The SMTP code. Null if only the enhanced code is known, as in many notifications. */
  code: number | null;
  enhanced: string | null;
  /** The text of the server's reply, with or without its codes. */
  text: string;
  stage: RefusalStage;
}

/**
 * A refusal of the sending service because of its login, account, quota, addresses or reputation. Such a refusal says
 * nothing about the recipient.
 */
export interface AboutUs {
  about: 'us';
  /**
   * `session`: the server refuses the connection. `account`: the server does not send for this login or sender.
   * `policy`: the server does not accept email from this sender. `unclear`: the reply gives no reason.
   */
  why: 'session' | 'account' | 'policy' | 'unclear';
  /** True if the email waits and is retried. Otherwise the email fails, unless its route is paused. */
  retry: boolean;
}

/** A refusal of the message's size, form or content. Such a refusal says nothing about the recipient. */
export interface AboutMessage {
  about: 'message';
  retry: boolean;
}

/** The mailbox of the address does not exist or is abandoned. */
export interface DeadMailbox {
  about: 'recipient';
  why: 'dead_mailbox';
  bounceType: 'Permanent';
  retry: false;
}

/**
 * The mailbox is full, or its server is busy or unreachable. A transient refusal says nothing permanent about the
 * address.
 */
export interface RecipientForNow {
  about: 'recipient';
  why: 'mailbox_for_now' | 'routing' | 'unknown';
  bounceType: 'Transient';
  retry: boolean;
}

export type AboutRecipient = DeadMailbox | RecipientForNow;
export type Refusal = AboutUs | AboutMessage | AboutRecipient;

/**
 * Codes with which a server requires a login. A server may send them in reply to any command, often to MAIL or RCPT
 * (RFC 4954 §4 and §6).
 */
const LOGIN_CODES: ReadonlySet<number | null> = new Set([530, 534, 535, 538]);
/** The host accepts no email at all, whatever the enhanced code is (RFC 7504). */
const HOST_ACCEPTS_NO_EMAIL = 521;

const HAS_CODES = /^\s*(?:smtp;\s*)?(?:([245]\d\d)(?:[\s-]+|$))?(?:#?([245]\.\d{1,3}\.\d{1,3})(?:[\s:-]+|$))?/i;
/**
 * Matches an enhanced code inside the text. qmail and Exchange write it after the text, or before the reply that they
 * quote: `(#5.1.1)`. Other servers quote the reply of the next server: `550 5.1.1`.
 */
const CODE_IN_WORDS = /(?:#|\b[45]\d\d[ -])([245]\.\d{1,3}\.\d{1,3})\b(?!\.\d)/;
const QUOTES_REPLY = /^.*?(?:^|: )[2-5]\d\d(?:[ -]#?[245]\.\d{1,3}\.\d{1,3})?(?=\s|$)/s;
/**
 * The maximum number of characters of a reply that are read. The first words are enough, and with a long hostile text,
 * the patterns could run for minutes.
 */
const MAX_TEXT = 2000;

/** Tells whether a refusal at this stage is about the session, so it says nothing about the email. */
export function isSessionStage(stage: RefusalStage): boolean {
  return stage === 'connect' || stage === 'ehlo' || stage === 'starttls' || stage === 'auth';
}

/** Tells whether a server requires a login with this code. */
export function isLoginCode(code: number): boolean {
  return LOGIN_CODES.has(code);
}

/** Classifies a refusal from any source: an SMTP reply, an SES error, a notification or a report. */
export function classifyRefusal(reply: Reply): Refusal {
  if (isSessionStage(reply.stage)) return { about: 'us', why: 'session', retry: true };
  const isOwnAttempt = reply.stage !== 'dsn';
  const temporary = isTemporary(reply);
  if (LOGIN_CODES.has(reply.code)) return { about: 'us', why: 'account', retry: isOwnAttempt };
  switch (classifyReply(reply)) {
    case 'account':
      return { about: 'us', why: 'account', retry: isOwnAttempt };
    case 'policy':
      return { about: 'us', why: 'policy', retry: isOwnAttempt && temporary };
    case 'message':
      return { about: 'message', retry: isOwnAttempt && temporary };
    case 'mailbox_for_now':
      return { about: 'recipient', why: 'mailbox_for_now', bounceType: 'Transient', retry: isOwnAttempt };
    case 'dead_mailbox':
      return temporary ? createTransientRefusal('mailbox_for_now', isOwnAttempt) : DEAD_MAILBOX;
    case 'routing':
      // The first server is the operator's relay. If the relay finds no route, its configuration is the likely reason.
      if (isOwnAttempt) return { about: 'us', why: 'unclear', retry: temporary };
      return createTransientRefusal('routing', false);
    case undefined:
      if (isOwnAttempt) return { about: 'us', why: 'unclear', retry: temporary };
      return createTransientRefusal(temporary ? 'mailbox_for_now' : 'unknown', false);
  }
}

const DEAD_MAILBOX: DeadMailbox = { about: 'recipient', why: 'dead_mailbox', bounceType: 'Permanent', retry: false };

/**
 * The result for a report about an address that is not the email's recipient, such as the target of a forward. The
 * report proves nothing about the recipient.
 */
export const ABOUT_ANOTHER_ADDRESS: RecipientForNow = {
  about: 'recipient',
  why: 'unknown',
  bounceType: 'Transient',
  retry: false,
};

function createTransientRefusal(why: RecipientForNow['why'], retry: boolean): RecipientForNow {
  return { about: 'recipient', why, bounceType: 'Transient', retry };
}

/** Parses `550 5.1.1 words` or a Diagnostic-Code (`smtp; 550-5.1.1 words`, RFC 3464 §2.3.6). */
export function parseDiagnostic(text: string): { code: number | null; enhanced: string | null; text: string } {
  const match = HAS_CODES.exec(text);
  const code = match?.[1] ? Number(match[1]) : null;
  return { code, enhanced: match?.[2] ?? null, text: text.slice(match?.[0].length ?? 0).trim() };
}

/** Cuts a text after the codes of the reply that it quotes: `left us: 421 4.3.2 words` becomes `left us: 421 4.3.2`. */
export function cutAfterReplyCodes(text: string): string {
  return QUOTES_REPLY.exec(text)?.[0] ?? text;
}

/** Classifies a reply by its enhanced code if the code is specific, else by its text. */
function classifyReply({ code, enhanced, text, stage }: Reply): RefusalClass | undefined {
  const start = text.slice(0, MAX_TEXT);
  const status = enhanced ?? CODE_IN_WORDS.exec(start)?.[1] ?? null;
  const textClass = classifyText(start, code);
  // Postfix also replies 521 to a message with bare line feeds.
  const acceptsNoEmail = code === HOST_ACCEPTS_NO_EMAIL && textClass?.class !== 'message';
  const found = acceptsNoEmail ? 'policy' : classifyCode(status, textClass);
  if (stage !== 'mail') return found;
  // At the command MAIL, the server does not know the recipient yet, so it can only refuse the sender or the message.
  return found === 'message' ? found : 'account';
}

/**
 * Tells whether a refusal is temporary. A 4xx code is always temporary, whatever the text is: a server whose directory
 * is down replies `450 4.1.1 user unknown`.
 */
function isTemporary({ code, enhanced }: Reply): boolean {
  if (code !== null && code < 500) return true;
  return enhanced?.startsWith('4.') ?? false;
}
