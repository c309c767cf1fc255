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
 * What the provider made of a message. `unsent` and a refusal that is not permanent have not arrived and may be sent
 * again; `in_doubt` may have arrived: the provider never repeats it by itself, and the caller, who would rather double
 * than lose it, sends it again under the same Message-ID. What a refusal means for the recipient is for
 * `judgeRefusal`.
 */
export type ProviderResult =
  | { outcome: 'accepted'; providerMessageId: string | null; reply: string }
  | SmtpRefusal
  | { outcome: 'unsent'; error: string }
  | { outcome: 'in_doubt'; error: string };

/** Hands messages over to someone who delivers them. The caller bounds how many are under way. */
export interface EmailProvider {
  readonly kind: EmailProviderKind;
  /** Never rejects. An abort stops what is not on the wire yet. */
  send(message: OutgoingEmail, signal?: AbortSignal): Promise<ProviderResult>;
  /**
   * The same without a promise a message, for campaigns; `onResult` is called once, after this call. What it returns
   * takes the message back while it is not on its way: true, and then there is no result.
   */
  submit(message: OutgoingEmail, onResult: (result: ProviderResult, message: OutgoingEmail) => void): () => boolean;
  /** Answers what is queued as `unsent`, waits for what is on the wire. */
  close(): Promise<void>;
  /**
   * Asks whether the provider takes email for this envelope, or only our login, and sends nothing. Absent where that
   * cannot be asked.
   */
  probe?(envelope: ProbeEnvelope | null, signal: AbortSignal): Promise<ProbeResult>;
  /** Who is told in words for the log what an operator should know of the other side; set before the first message. */
  onNotice?(listener: (notice: string) => void): void;
}
