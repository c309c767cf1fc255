import type { SessionStage } from '../../../rules/emails/refusal.ts';
import type { Payload } from './payload.ts';

/** One message for one recipient. Every recipient gets a separate message, so each reply is about one address. */
export interface SmtpMessage {
  /** The id of the email, for the caller. The mail server does not get this id. */
  id: string;
  /** The envelope sender; `''` is the null sender. */
  from: string;
  to: string;
  /** The message. A string has one character per byte (ASCII or latin1). */
  data: string | Buffer;
  /**
   * True if the message is ASCII, all its lines end with CRLF, and no line starts with a dot. The client does not check
   * this.
   */
  canonical?: boolean;
  /** The same message, already encoded for SMTP by `buildPayload`. The client does not check this. */
  payload?: Payload | undefined;
}

/** A refusal by the server, or by this client on its behalf. */
export interface SmtpRefusal {
  outcome: 'refused';
  /**
   * The refused command; `connect` for the server's greeting, and `message` for the message itself. A refusal from
   * `connect` to `auth` is about the session and says nothing about the message.
   */
  stage: SessionStage;
  /** False if a later attempt can succeed. */
  permanent: boolean;
  code: number;
  /** RFC 3463 status of the reply, such as `5.1.1`. */
  enhanced: string | null;
  text: string;
  /** The provider's own name of the error, such as `SignatureDoesNotMatch`. */
  type?: string;
}

/**
 * The result for a message. After `unsent` and `refused`, the server does not have the message, so sending it again
 * makes no duplicate. The caller should count `unsent` as an attempt too, because a server that hangs up at a recipient
 * will probably do so every time. After `in_doubt`, the server may have the message.
 */
export type SmtpResult =
  | { outcome: 'accepted'; reply: string }
  | SmtpRefusal
  | { outcome: 'unsent'; error: string }
  | { outcome: 'in_doubt'; error: string };

export type SmtpCallback = (result: SmtpResult, message: SmtpMessage) => void;

/** A message on its way through the pool. */
export interface SmtpJob {
  message: SmtpMessage;
  onResult: SmtpCallback;
  /** The number of broken connections that this message may have caused (see `ConnectionLoss.blameless`). */
  losses: number;
  /** Set by the queue. */
  state: 'queued' | 'taken' | 'cancelled';
}

export interface SmtpReply {
  code: number;
  /** The text without the codes. Its lines are joined by `\n`. */
  text: string;
}

/** Timeouts for each kind of reply, in milliseconds. */
export interface SmtpTimeouts {
  connectMs: number;
  greetingMs: number;
  /** EHLO, STARTTLS with its handshake, AUTH, RSET, MAIL, RCPT and DATA. */
  commandMs: number;
  /** The reply to the message itself. */
  messageMs: number;
  /** An idle connection is closed after this time. */
  idleMs: number;
}

/**
 * The default timeouts. RFC 5321 §4.5.3.2 demands 5 minutes for the greeting, MAIL and RCPT. Our timeouts for these
 * replies are shorter, because it is safe to give up before the message is sent. After the message is sent, giving up
 * could send the email twice, so `messageMs` is the 10 minutes of the RFC.
 */
export const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  connectMs: 15_000,
  greetingMs: 60_000,
  commandMs: 120_000,
  messageMs: 600_000,
  idleMs: 30_000,
};
