import type { Reason } from '../emails/reasons.ts';

/** The reasons for which a provider permanently refuses an SMS. */
export type SmsRefusal = Extract<Reason, 'provider_rejected' | 'sms_stopped' | 'not_mobile' | 'invalid_number'>;

/** Twilio's error codes about the recipient. Source: twilio.com/docs/api/errors. */
const TWILIO_REFUSALS: Readonly<Record<string, SmsRefusal>> = {
  // The recipient has replied STOP to this sender.
  21610: 'sms_stopped',
  21614: 'not_mobile',
  21211: 'invalid_number',
  21217: 'invalid_number',
};

/** Returns the reason for an error code of Twilio; `provider_rejected` for a code that is not in the list. */
export function toTwilioRefusal(code: string | number | undefined): SmsRefusal {
  return TWILIO_REFUSALS[String(code)] ?? 'provider_rejected';
}
