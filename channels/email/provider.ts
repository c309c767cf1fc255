import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import type { Payload } from './smtp/payload.ts';
import type { ProbeEnvelope, ProbeResult } from './smtp/probe.ts';
import type { SmtpRefusal } from './smtp/types.ts';

/** One finished message for one recipient. */
export interface OutgoingEmail {
  /** Id of the email's row; comes back with the result. */
  id: string;
  projectId: string;
  /** Envelope sender (return path), `''` for the null sender. */
  from: string;
  to: string;
  /** The whole RFC 5322 message; a string holds bytes. */
  raw: string | Buffer;
  /** See `SmtpMessage.canonical`. */
  canonical?: boolean;
  /** See `SmtpMessage.payload`. */
  payload?: Payload;
}

/**
 * The provider's result for a message. `unsent` and a refusal that is not permanent have not arrived and may be sent
 * again. `in_doubt` may have arrived: the provider never repeats it itself, and the caller, which prefers a double to a
 * loss, sends it again under the same Message-ID. `judgeRefusal` decides what a refusal means for the recipient.
 */
export type ProviderResult =
  | { outcome: 'accepted'; providerMessageId: string | null; reply: string }
  | SmtpRefusal
  | { outcome: 'unsent'; error: string }
  | { outcome: 'in_doubt'; error: string };

/** Passes messages to a service that delivers them. The caller limits how many are in flight. */
export interface EmailProvider {
  readonly kind: EmailProviderKind;
  /** Never rejects. An abort stops what is not on the wire yet. */
  send(message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult>;
  /**
   * The same without a promise for each message, for campaigns. `onResult` is called once, after this call returns. The
   * returned function takes the message back while it is not on its way; it then returns true and there is no result.
   */
  submit(message: OutgoingEmail, onResult: (result: ProviderResult, message: OutgoingEmail) => void): () => boolean;
  /** Ends queued messages as `unsent`, and waits for messages on the wire. */
  close(): Promise<void>;
  /**
   * Asks whether the provider accepts email for this envelope, or only our login, and sends nothing. Absent when that
   * cannot be asked.
   */
  probe?(envelope: ProbeEnvelope | null, signal: AbortSignal): Promise<ProbeResult>;
  /**
   * Sets the listener for lines about the other side that an operator should know. Call it before the first message.
   */
  onNotice?(listener: (notice: string) => void): void;
}
