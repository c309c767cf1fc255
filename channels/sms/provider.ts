import type { SmsProviderKind } from '../../rules/sms/providers.ts';
import type { SmsRefusal } from '../../rules/sms/refusal.ts';

/** One SMS for one recipient. */
export interface OutgoingSms {
  /** The id of the SMS's row. */
  id: string;
  from: string;
  to: string;
  body: string;
}

/**
 * The provider's result for an SMS. `refused` is permanent. After `later` the SMS is sent again, because the provider
 * was busy, refused our account or did not respond. `status` contains no text of the provider, because Temporal shows
 * it.
 */
export type SmsResult =
  | { outcome: 'accepted'; providerMessageId: string | null; status: 'QUEUED' | 'SENT' }
  | { outcome: 'refused'; reason: SmsRefusal; error: string }
  | { outcome: 'later'; error: string; status: string };

export interface SmsProvider {
  readonly kind: SmsProviderKind;
  /** Never rejects. */
  send(sms: OutgoingSms): Promise<SmsResult>;
}
