import type { Generated } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import type { GeneratedJson, GeneratedTimestamp, NullableJson, NullableTimestamp, Timestamp } from './columns.ts';

/** The source of an email. INBOUND means an email that the service received. */
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
  /** The number of the campaign's variant, from 0. */
  variant: number | null;
  execution_id: string | null;
  visit: number | null;
  source_type: SourceType;
  mode: Generated<KeyMode>;
  status: Generated<EmailStatus>;
  to_email: string | null;
  to_name: string | null;
  /**
   * The recipient's address, if the email was created without a contact. A trigger sets the column, and an erasure
   * clears it.
   */
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
  /** When the email failed or was skipped. Null for other emails, and for emails that failed before 2026-11-30. */
  failed_at: NullableTimestamp;
  /**
   * True for an email to a simulator address: it was never transmitted. The project's guards, monthly limit and
   * analytics do not count it; the counts of its campaign, workflow step or template do.
   */
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
  /** The bytes of the file. Empty after the attachments' retention time. */
  content: Buffer;
  /** Size in bytes, set when the content is deleted; null until then. */
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

/** The slots that a contact's emails take under the project's frequency cap. */
export interface FrequencySlotsTable {
  contact_id: string;
  project_id: string;
  wanted: string[];
  /** The time of each email's slot in epoch seconds, by email id. 0 if the email was refused a slot. */
  mails: GeneratedJson<Record<string, number>>;
  updated_at: GeneratedTimestamp;
}

export interface SendBucketsTable {
  project_id: string;
  tokens: number;
  refilled_at: GeneratedTimestamp;
  singles_wait_until: Date | null;
  workflows_wait_until: Date | null;
  /** When the last workflow email in the queue will be sent. Null or in the past if the queue is empty. */
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
