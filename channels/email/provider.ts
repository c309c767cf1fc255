import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import type { Payload } from './smtp/payload.ts';
import type { ProbeEnvelope, ProbeResult } from './smtp/probe.ts';
import type { SmtpRefusal } from './smtp/types.ts';

/** One finished message for one recipient. */
export interface OutgoingEmail {
  /** Id of the email's row, which the result repeats. */
  id: string;
  projectId: string;
  /** Envelope sender (return path), `''` for the null sender. */
  from: string;
  to: string;
  /** The whole RFC 5322 message; a string has one character per byte. */
  raw: string | Buffer;
  /** See `SmtpMessage.canonical`. */
  canonical?: boolean;
  /** See `SmtpMessage.payload`. */
  payload?: Payload;
}

/**
 * The provider's result for a message. After `unsent` or a temporary refusal, the message has not arrived and may be
 * sent again. After `in_doubt` it may have arrived: the provider never repeats it, but the caller sends it again with
 * the same Message-ID, because a second copy is better than a lost email. `classifyRefusal` decides what a refusal
 * means for the recipient.
 */
export type ProviderResult =
  | { outcome: 'accepted'; providerMessageId: string | null; reply: string }
  | SmtpRefusal
  | { outcome: 'unsent'; error: string }
  | { outcome: 'in_doubt'; error: string };

/** Passes messages to a service that delivers them. The caller limits how many are in flight. */
export interface EmailProvider {
  readonly kind: EmailProviderKind;
  /** Sends a message. Never rejects. An abort stops messages that are not on the wire yet. */
  send(message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult>;
  /**
   * Sends a message without a promise, for campaigns. `onResult` is called once, after this call returns. The returned
   * function withdraws a message that is not on the wire yet; it then returns true, and `onResult` is not called.
   */
  submit(message: OutgoingEmail, onResult: (result: ProviderResult, message: OutgoingEmail) => void): () => boolean;
  /** Ends queued messages as `unsent`, and waits for messages on the wire. */
  close(): Promise<void>;
  /**
   * Checks whether the provider accepts email for this envelope, or only our login, and sends nothing. Absent if the
   * provider cannot be checked.
   */
  probe?(envelope: ProbeEnvelope | null, signal: AbortSignal): Promise<ProbeResult>;
  /** Sets the listener for lines about the server that an operator should know. Call it before the first message. */
  onNotice?(listener: (notice: string) => void): void;
}
