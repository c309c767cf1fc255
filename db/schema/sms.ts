import type { Generated } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { SmsEncoding } from '../../rules/sms/sms-size.ts';
import type { SmsStatus } from '../../rules/sms/status.ts';
import type { GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** SMS and their senders. */
export interface SmsTables {
  sms_messages: SmsMessagesTable;
  sms_senders: SmsSendersTable;
  captured_sms: CapturedSmsTable;
  sms_stops: SmsStopsTable;
  contact_phones: ContactPhonesTable;
  phone_updates: PhoneUpdatesTable;
  sms_stop_backfill: SmsStopBackfillTable;
}

export interface SmsMessagesTable {
  id: Generated<string>;
  project_id: string;
  contact_id: string | null;
  /** The execution whose step sent the SMS. Null for an SMS sent through the API. */
  execution_id: string | null;
  to_phone: string;
  from_phone: string;
  country: string;
  body: string;
  encoding: SmsEncoding;
  segments: number;
  mode: Generated<KeyMode>;
  status: Generated<SmsStatus>;
  claim: number | null;
  delivery_id: string | null;
  attempts: Generated<number>;
  reason: string | null;
  error: string | null;
  provider_message_id: string | null;
  created_at: GeneratedTimestamp;
  sent_at: NullableTimestamp;
  delivered_at: NullableTimestamp;
  /** True for an SMS of a sandbox execution. */
  sandbox: Generated<boolean>;
  /**
   * Whether the SMS is marketing. Null if the SMS is older than this column; then an SMS of a step counts as marketing.
   */
  marketing: boolean | null;
}

export interface SmsSendersTable {
  id: Generated<string>;
  project_id: string;
  country: string | null;
  from_phone: string;
  created_at: GeneratedTimestamp;
}

export interface CapturedSmsTable {
  id: string;
  from_phone: string;
  to_phone: string;
  body: string;
  created_at: GeneratedTimestamp;
}

/** Phone numbers that refuse SMS from one sender. The sender '' means all senders. */
export interface SmsStopsTable {
  id: Generated<string>;
  project_id: string;
  phone_hash: Buffer;
  sender: string;
  phone: string | null;
  source: string;
  actor: string | null;
  created_at: GeneratedTimestamp;
}

/** The normalized number of a contact whose number was not written in E.164. */
export interface ContactPhonesTable {
  contact_id: string;
  project_id: string;
  phone: string;
}

/** A project whose country has changed, so that its contacts' numbers must be parsed again. */
export interface PhoneUpdatesTable {
  project_id: string;
  changed_at: GeneratedTimestamp;
  /** The contact up to which the numbers were parsed. */
  after: Generated<string>;
}

/** How far `sms_stops` has been filled from the consent of contacts that an earlier release stored. */
export interface SmsStopBackfillTable {
  singleton: Generated<boolean>;
  after: string;
}
