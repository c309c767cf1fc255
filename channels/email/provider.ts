import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import type { Payload } from './smtp/payload.ts';
import type { ProbeEnvelope, ProbeResult } from './smtp/probe.ts';
import type { SmtpRefusal } from './smtp/types.ts';

/** One finished message for one recipient. */
export interface OutgoingEmail {
  /** The id of the email's row. */
  id: string;
  projectId: string;
  /** The envelope sender (return path); `''` is the null sender. */
  from: string;
  to: string;
  /** The whole message (RFC 5322). A string has one character per byte. */
  raw: string | Buffer;
  /** See `SmtpMessage.canonical`. */
  canonical?: boolean;
  /** See `SmtpMessage.payload`. */
  payload?: Payload;
}

/**
 * The provider's result for a message. After `unsent` or a temporary refusal, the message has not arrived and may be
 * sent again. `in_doubt` means that the message may have arrived. The provider never retries such a message itself. The
 * caller sends it again with the same Message-ID, because a second copy is better than a lost email. `classifyRefusal`
 * decides the consequences of a refusal for the recipient.
 */
export type ProviderResult =
  | { outcome: 'accepted'; providerMessageId: string | null; reply: string }
  | SmtpRefusal
  | { outcome: 'unsent'; error: string }
  | { outcome: 'in_doubt'; error: string };

/**
 * Passes messages to a mail server or email service, which delivers them. The caller limits the number of messages in
 * flight.
 */
export interface EmailProvider {
  readonly kind: EmailProviderKind;
  /**
   * Sends a message. The promise never rejects. If `signal` is aborted before the message is on the wire, the message
   * is not sent.
   */
  send(message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult>;
  /**
   * Sends a message and calls `onResult` once, after this call has returned. Campaigns use this method, because it
   * needs no promise for each message. The returned function withdraws the message if it is not on the wire yet. In
   * that case the function returns true, and `onResult` is not called.
   */
  submit(message: OutgoingEmail, onResult: (result: ProviderResult, message: OutgoingEmail) => void): () => boolean;
  /** Gives queued messages the result `unsent`, and waits for the results of messages on the wire. */
  close(): Promise<void>;
  /**
   * Checks whether the provider accepts email with this envelope, without sending a message. With `null`, checks only
   * the login. Absent if the provider cannot be checked.
   */
  probe?(envelope: ProbeEnvelope | null, signal: AbortSignal): Promise<ProbeResult>;
  /**
   * Sets the listener for notices about the server that an operator should see. Call this method before the first
   * message.
   */
  onNotice?(listener: (notice: string) => void): void;
}
