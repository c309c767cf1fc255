import type { Generated, GeneratedAlways } from 'kysely';
import type { BulkResult, ImportResult, JobKind, JobStatus } from '../../rules/contacts/jobs.ts';
import type { SuppressionReason } from '../../rules/emails/reasons.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { GeneratedJson, GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** Contacts, suppressed addresses, and the jobs that change many contacts at once. */
export interface ContactsTables {
  contacts: ContactsTable;
  suppressions: SuppressionsTable;
  confirmations: ConfirmationsTable;
  jobs: JobsTable;
  erased_emails: ErasedEmailsTable;
  erased_contacts: ErasedContactsTable;
  erased_addresses: ErasedAddressesTable;
}

export interface ContactsTable {
  id: Generated<string>;
  project_id: string;
  email: string;
  subscribed: boolean;
  sms_subscribed: Generated<boolean>;
  data: GeneratedJson<Data>;
  untrusted_keys: Generated<string[]>;
  was_unsubscribed: Generated<boolean | null>;
  changed_by: string | null;
  /** True if the contact has yet to confirm its subscription (double opt-in). */
  pending: Generated<boolean>;
  confirmation_asked_at: NullableTimestamp;
  phone: GeneratedAlways<string | null>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

/** Confirmation emails, and the proof of the contact's confirmation. */
export interface ConfirmationsTable {
  email_id: string;
  project_id: string;
  contact_id: string;
  created_at: GeneratedTimestamp;
  confirmed_at: NullableTimestamp;
  ip: string | null;
  text: string | null;
}

export interface SuppressionsTable {
  id: Generated<string>;
  project_id: string;
  address_hash: Buffer;
  email: string | null;
  reason: SuppressionReason;
  source: string;
  actor: string | null;
  created_at: GeneratedTimestamp;
}

export interface JobsTable {
  id: Generated<string>;
  project_id: string;
  kind: JobKind;
  status: Generated<JobStatus>;
  input: GeneratedJson;
  file: Buffer | null;
  cursor: Generated<number>;
  total: Generated<number>;
  processed: Generated<number>;
  result: GeneratedJson<ImportResult | BulkResult>;
  failed_reason: string | null;
  created_at: GeneratedTimestamp;
  started_at: NullableTimestamp;
  completed_at: NullableTimestamp;
}

/** The addresses whose consent can be changed by links in an erased contact's email. */
export interface ErasedEmailsTable {
  email_id: string;
  address_hash: Buffer;
  project_id: string;
  /** True for the address that the email was sent to, false for an address that the contact had later. */
  is_recipient: boolean;
  topic_id: string | null;
}

export interface ErasedContactsTable {
  contact_id: string;
  address_hash: Buffer;
  project_id: string;
}

/** The contact that now has an address of an erased contact. No row if no contact has it. */
export interface ErasedAddressesTable {
  project_id: string;
  address_hash: Buffer;
  contact_id: string | null;
}
