import type { SmsProviderKind } from '../../rules/sms/providers.ts';
import type { SmsRefusal } from '../../rules/sms/refusal.ts';

/** One SMS for one recipient. */
export interface OutgoingSms {
  /** Id of its row. */
  id: string;
  from: string;
  to: string;
  body: string;
}

/**
 * The result of a send. `refused` is permanent. `later` can be retried, because the provider is busy or unreachable; its
 * `status` has only codes, because Temporal shows it.
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
