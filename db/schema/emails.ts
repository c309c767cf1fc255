import type { Generated } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import type { GeneratedJson, GeneratedTimestamp, NullableJson, NullableTimestamp, Timestamp } from './columns.ts';

/** Cause of an email. INBOUND is an email that the service received. */
export type SourceType = SentEmailSource | 'INBOUND';
export type SentEmailSource = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW';

/** Emails with their attachments, send rates and outcomes. */
export interface EmailsTables {
  emails: EmailsTable;
  ses_messages: SesMessagesTable;
  attachments: AttachmentsTable;
  erased_attachments: ErasedAttachmentsTable;
  captured_emails: CapturedEmailsTable;
  send_buckets: SendBucketsTable;
  frequency_slots: FrequencySlotsTable;
  send_outcomes: SendOutcomesTable;
  provider_outcomes: ProviderOutcomesTable;
}

export interface EmailsTable {
  id: Generated<string>;
  project_id: string;
  contact_id: string | null;
  content_id: string;
  campaign_id: string | null;
  /** The number of the campaign's variant, starting at 0. */
  variant: number | null;
  execution_id: string | null;
  visit: number | null;
  source_type: SourceType;
  mode: Generated<KeyMode>;
  status: Generated<EmailStatus>;
  to_email: string | null;
  to_name: string | null;
  /** The recipient of an email that was created without a contact. Set by a trigger, emptied when the person is erased. */
  address_without_contact: string | null;
  variables: NullableJson;
  options: NullableJson;
  claim: number | null;
  delivery_id: string | null;
  attempts: Generated<number>;
  reason: string | null;
  error: string | null;
  bounce_type: string | null;
  provider_message_id: string | null;
  /** SHA-256 of the bytes of a received email. */
  received_digest: Buffer | null;
  opens: Generated<number>;
  clicks: Generated<number>;
  machine_opens: Generated<number>;
  machine_clicks: Generated<number>;
  created_at: GeneratedTimestamp;
  sent_at: NullableTimestamp;
  delivered_at: NullableTimestamp;
  opened_at: NullableTimestamp;
  clicked_at: NullableTimestamp;
  bounced_at: NullableTimestamp;
  complained_at: NullableTimestamp;
  unsubscribed_at: NullableTimestamp;
  /** The email was to the simulator: it was never sent, and no analytics count it. */
  simulated: Generated<boolean>;
}

export interface SesMessagesTable {
  /** The id that SES assigned. */
  message_id: string;
  project_id: string;
  email_id: string;
  created_at: GeneratedTimestamp;
}

export interface AttachmentsTable {
  id: Generated<string>;
  project_id: string;
  filename: string;
  content_type: string;
  disposition: Generated<string>;
  content_id: string | null;
  /** The bytes of the file. Empty after the retention period of attachments. */
  content: Buffer;
  /** Size in bytes, if the content was deleted. Null otherwise. */
  size: number | null;
  created_at: GeneratedTimestamp;
}

export interface ErasedAttachmentsTable {
  attachment_id: string;
  project_id: string;
}

export interface CapturedEmailsTable {
  id: string;
  from_email: string;
  to_email: string;
  raw: Buffer;
  created_at: GeneratedTimestamp;
}

/** A contact's slots under the frequency cap of the project. */
export interface FrequencySlotsTable {
  contact_id: string;
  project_id: string;
  wanted: string[];
  /** Epoch seconds of each email's slot, by email id. 0 if the email got none. */
  mails: GeneratedJson<Record<string, number>>;
  updated_at: GeneratedTimestamp;
}

export interface SendBucketsTable {
  project_id: string;
  tokens: number;
  refilled_at: GeneratedTimestamp;
  singles_wait_until: Date | null;
  workflows_wait_until: Date | null;
  /** When the next new workflow email would be sent: the end of the queue. Null or in the past if none waits. */
  workflow_line_at: Date | null;
}

export interface SendOutcomesTable {
  project_id: string;
  hour: Timestamp;
  slot: number;
  mails: Generated<number>;
  dead: Generated<number>;
  complaints: Generated<number>;
}

export interface ProviderOutcomesTable {
  project_id: string;
  provider: string;
  recent: string;
  updated_at: GeneratedTimestamp;
}
