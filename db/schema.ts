import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { MailTextColumns } from './mail-text.ts';

/**
 * The tables as the migrations make them, one interface each; read beside `db/migrations/`, which says why.
 * Instants come back as `Date` and go in as `Date` or ISO text; `bigint` comes back as a number (see db/connection.ts);
 * jsonb goes in as text (`JSON.stringify`), so that a JSON string or array is never taken for something else by the driver.
 */
type Timestamp = ColumnType<Date, Date | string, Date | string>;
type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
// The shape of a jsonb value is known to the query file that reads it, which gives it its type there.
type Json = ColumnType<unknown, string, string>;
type GeneratedJson = ColumnType<unknown, string | undefined, string>;
type NullableJson = ColumnType<unknown, string | null | undefined, string | null>;

export interface ProjectsTable {
  id: Generated<string>;
  name: string;
  public_key: string;
  public_key_hash: Buffer;
  tracking: Generated<string>;
  send_rate_per_second: number | null;
  monthly_email_limit: number | null;
  bounce_guard: Generated<number>;
  complaint_guard: Generated<number>;
  color: string | null;
  held_at: NullableTimestamp;
  hold_reason: string | null;
  /** Set by the operator of the service; the columns without `operator_` are the project's own. */
  operator_send_rate_per_second: number | null;
  operator_monthly_email_limit: number | null;
  operator_bounce_guard: number | null;
  operator_complaint_guard: number | null;
  operator_held_at: NullableTimestamp;
  operator_hold_reason: string | null;
  /** What holds: the tighter of both. */
  effective_send_rate_per_second: GeneratedAlways<number | null>;
  effective_monthly_email_limit: GeneratedAlways<number | null>;
  effective_bounce_guard: GeneratedAlways<number>;
  effective_complaint_guard: GeneratedAlways<number>;
  effective_held_at: GeneratedAlways<Date | null>;
  effective_hold_reason: GeneratedAlways<string | null>;
  disabled_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface UsersTable {
  id: Generated<string>;
  email: string;
  password_hash: string;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface MembershipsTable {
  project_id: string;
  user_id: string;
  role: string;
  created_at: GeneratedTimestamp;
}

export interface SessionsTable {
  token_hash: Buffer;
  user_id: string;
  project_id: string;
  created_at: GeneratedTimestamp;
  expires_at: Timestamp;
}

export interface ApiKeysTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  key_hash: Buffer;
  prefix: string;
  scopes: string[];
  mode: string;
  created_by: string | null;
  expires_at: NullableTimestamp;
  revoked_at: NullableTimestamp;
  last_used_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
}

export interface AuditLogTable {
  id: Generated<string>;
  project_id: string;
  action: string;
  actor: string;
  target: string | null;
  ip: string | null;
  details: GeneratedJson;
  created_at: GeneratedTimestamp;
}

export interface LoginFailuresTable {
  subject: string;
  failed_at: GeneratedTimestamp;
}

/** Unlogged: a crash of Postgres forgets a minute of counting. */
export interface RateWindowsTable {
  subject: string;
  taken: number;
  started_at: Timestamp;
}

export interface MonthlyUsageTable {
  project_id: string;
  month: string;
  emails: number;
}

export interface SendBucketsTable {
  project_id: string;
  tokens: number;
  refilled_at: GeneratedTimestamp;
  singles_wait_until: Date | null;
  workflows_wait_until: Date | null;
  /** When a mail of a workflow has its turn that comes now; null or past where none waits. */
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

export interface ContactsTable {
  id: Generated<string>;
  project_id: string;
  email: string;
  subscribed: boolean;
  sms_subscribed: Generated<boolean>;
  data: GeneratedJson;
  untrusted_keys: Generated<string[]>;
  was_unsubscribed: Generated<boolean | null>;
  changed_by: string | null;
  phone: GeneratedAlways<string | null>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface SuppressionsTable {
  id: Generated<string>;
  project_id: string;
  address_hash: Buffer;
  email: string | null;
  reason: string;
  source: string;
  created_at: GeneratedTimestamp;
}

export interface JobsTable {
  id: Generated<string>;
  project_id: string;
  kind: string;
  status: Generated<string>;
  input: GeneratedJson;
  file: Buffer | null;
  cursor: Generated<number>;
  total: Generated<number>;
  processed: Generated<number>;
  result: GeneratedJson;
  failed_reason: string | null;
  created_at: GeneratedTimestamp;
  started_at: NullableTimestamp;
  completed_at: NullableTimestamp;
}

export interface DomainsTable {
  id: Generated<string>;
  project_id: string;
  domain: string;
  status: Generated<string>;
  signing: Generated<boolean>;
  dkim_selector: string;
  dkim_private_key: string;
  dkim_public_key: string;
  found: GeneratedJson;
  last_checked_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface TemplatesTable extends MailTextColumns<string | null> {
  id: Generated<string>;
  project_id: string;
  name: string;
  description: string | null;
  type: string;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface ContentsTable extends MailTextColumns {
  id: Generated<string>;
  project_id: string;
  hash: Buffer;
  type: string;
  template_id: string | null;
  created_at: GeneratedTimestamp;
}

export interface ErasedContentsTable {
  content_id: string;
  project_id: string;
  /** Since when no new mail finds it by its hash; null while it waits for that. */
  retired_at: NullableTimestamp;
}

export interface EmailsTable {
  id: Generated<string>;
  project_id: string;
  contact_id: string | null;
  content_id: string;
  campaign_id: string | null;
  execution_id: string | null;
  visit: number | null;
  source_type: string;
  mode: Generated<string>;
  status: Generated<string>;
  to_email: string | null;
  to_name: string | null;
  variables: NullableJson;
  options: NullableJson;
  claim: number | null;
  delivery_id: string | null;
  attempts: Generated<number>;
  reason: string | null;
  error: string | null;
  bounce_type: string | null;
  provider_message_id: string | null;
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
}

export interface SesMessagesTable {
  /** The id that SES gave. */
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
  /** Empty once its time is over. */
  content: Buffer;
  /** Bytes, of a content that was dropped; else null. */
  size: number | null;
  created_at: GeneratedTimestamp;
}

export interface ErasedAttachmentsTable {
  attachment_id: string;
  project_id: string;
}

export interface SmsMessagesTable {
  id: Generated<string>;
  project_id: string;
  contact_id: string | null;
  to_phone: string;
  from_phone: string;
  country: string;
  body: string;
  encoding: string;
  segments: number;
  mode: Generated<string>;
  status: Generated<string>;
  claim: number | null;
  delivery_id: string | null;
  attempts: Generated<number>;
  reason: string | null;
  error: string | null;
  provider_message_id: string | null;
  created_at: GeneratedTimestamp;
  sent_at: NullableTimestamp;
  delivered_at: NullableTimestamp;
}

export interface SmsSendersTable {
  id: Generated<string>;
  project_id: string;
  country: string | null;
  from_phone: string;
  created_at: GeneratedTimestamp;
}

export interface CapturedEmailsTable {
  id: string;
  from_email: string;
  to_email: string;
  raw: Buffer;
  created_at: GeneratedTimestamp;
}

export interface CapturedSmsTable {
  id: string;
  from_phone: string;
  to_phone: string;
  body: string;
  created_at: GeneratedTimestamp;
}

export interface EventsTable {
  id: Generated<string>;
  project_id: string;
  contact_id: string | null;
  email_id: string | null;
  name: string;
  data: NullableJson;
  untrusted: Generated<boolean>;
  swayed: Generated<boolean>;
  created_at: GeneratedTimestamp;
}

export interface OutboxTable {
  id: Generated<string>;
  project_id: string;
  kind: string;
  ref_id: string;
  payload: GeneratedJson;
  attempts: Generated<number>;
  last_error: string | null;
  /** When the row may be taken; of a row that is taken, when it is given up for lost. */
  available_at: GeneratedTimestamp;
  created_at: GeneratedTimestamp;
  /** `OUTBOX_PRIORITY` of its kind. */
  priority: Generated<number>;
  /** Since when Temporal has it without having begun; null while it waits, and for what workers send themselves. */
  taken_at: Date | null;
}

export interface IdempotencyKeysTable {
  project_id: string;
  key: string;
  public: Generated<boolean>;
  owner: string | null;
  request: string;
  status_code: number;
  response: Json;
  created_at: GeneratedTimestamp;
}

export interface WorkflowsTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  description: string | null;
  trigger_type: Generated<string>;
  event_name: string | null;
  enabled: Generated<boolean>;
  allow_reentry: Generated<boolean>;
  entry_step_id: string | null;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface WorkflowStepsTable {
  id: Generated<string>;
  project_id: string;
  workflow_id: string;
  type: string;
  name: string;
  config: GeneratedJson;
  template_id: string | null;
  position: NullableJson;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface WorkflowTransitionsTable {
  id: Generated<string>;
  project_id: string;
  workflow_id: string;
  from_step_id: string;
  to_step_id: string;
  branch: string | null;
  created_at: GeneratedTimestamp;
}

export interface ExecutionsTable {
  id: Generated<string>;
  project_id: string;
  workflow_id: string;
  contact_id: string;
  entry: number;
  status: Generated<string>;
  current_step_id: string | null;
  visit: Generated<number>;
  exit_reason: string | null;
  error: string | null;
  context: GeneratedJson;
  event_id: string | null;
  event_name: string | null;
  event: GeneratedJson;
  untrusted: Generated<boolean>;
  swayed: Generated<boolean>;
  mode: Generated<string>;
  laps: NullableJson;
  depth: Generated<number>;
  started_at: GeneratedTimestamp;
  completed_at: NullableTimestamp;
}

export interface TimerSecondsTable {
  project_id: string;
  second: number;
  booked: number;
  next_second: number | null;
}

export interface BeginRatesTable {
  worker_id: string;
  /** Starts, signals and cancels that this worker saw Temporal begin in a second. */
  per_second: number;
  at: GeneratedTimestamp;
}

export interface TimerRateTable {
  one: Generated<boolean>;
  per_second: number;
}

export interface ExecutionStepsTable {
  execution_id: string;
  visit: number;
  project_id: string;
  step_id: string;
  type: string;
  status: string;
  attempts: Generated<number>;
  started_at: GeneratedTimestamp;
  completed_at: NullableTimestamp;
  due_at: NullableTimestamp;
  output: NullableJson;
  error: string | null;
}

export interface ExecutionWaitsTable {
  execution_id: string;
  visit: number;
  project_id: string;
  contact_id: string;
  event_name: string;
  filters: NullableJson;
  since: Timestamp;
  deadline_at: NullableTimestamp;
  event_id: string | null;
}

export interface SegmentsTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  slug: string;
  description: string | null;
  type: Generated<string>;
  condition: NullableJson;
  track_membership: Generated<boolean>;
  member_count: Generated<number>;
  counted_at: NullableTimestamp;
  computed_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface SegmentMembersTable {
  segment_id: string;
  contact_id: string;
  project_id: string;
  created_at: GeneratedTimestamp;
}

export interface CampaignsTable extends MailTextColumns {
  id: Generated<string>;
  project_id: string;
  name: string;
  description: string | null;
  audience_type: string;
  segment_id: string | null;
  audience_filter: NullableJson;
  status: Generated<string>;
  mode: Generated<string>;
  scheduled_at: NullableTimestamp;
  started_at: NullableTimestamp;
  sent_at: NullableTimestamp;
  cancelled_at: NullableTimestamp;
  paused_reason: string | null;
  content_id: string | null;
  send_no: Generated<number>;
  audience_cursor: string | null;
  audience_done: Generated<boolean>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface CampaignChunksTable {
  campaign_id: string;
  seq: number;
  project_id: string;
  first_id: string;
  last_id: string;
  size: number;
  done_at: NullableTimestamp;
}

export interface StorefrontVariantsTable {
  project_id: string;
  variant_id: string;
  product_title: string;
  title: string;
  url: string | null;
  available: boolean;
  restock_no: Generated<number>;
  restock_mode: Generated<string>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface BackInStockWaitsTable {
  project_id: string;
  variant_id: string;
  contact_id: string;
  after_restock_no: Generated<number>;
  created_at: GeneratedTimestamp;
}

export interface WebhookEndpointsTable {
  id: Generated<string>;
  project_id: string;
  /** `***` where its password is. */
  url: string;
  /** The password, sealed. */
  url_secret: string | null;
  events: string[];
  description: string | null;
  status: Generated<string>;
  secret: string;
  previous_secret: string | null;
  previous_until: NullableTimestamp;
  failures_in_row: Generated<number>;
  failing_since: NullableTimestamp;
  disabled_reason: string | null;
  /** Counts the turns; a turn that is no longer the last one records nothing. */
  turn: Generated<number>;
  /** Until then the endpoint is looked at by itself, and a new event need not wake it. */
  wakes_at: NullableTimestamp;
  /** A degraded endpoint is asked again at this time. */
  probe_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface WebhookDeliveriesTable {
  id: Generated<string>;
  project_id: string;
  endpoint_id: string;
  event_id: string;
  event_name: string;
  payload: Json;
  status: Generated<string>;
  attempts: Generated<number>;
  response_status: number | null;
  latency_ms: number | null;
  error: string | null;
  /** Set while the delivery is PENDING. */
  next_attempt_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  completed_at: NullableTimestamp;
}

export interface Database {
  projects: ProjectsTable;
  users: UsersTable;
  memberships: MembershipsTable;
  sessions: SessionsTable;
  api_keys: ApiKeysTable;
  audit_log: AuditLogTable;
  login_failures: LoginFailuresTable;
  rate_windows: RateWindowsTable;
  monthly_usage: MonthlyUsageTable;
  send_buckets: SendBucketsTable;
  send_outcomes: SendOutcomesTable;
  provider_outcomes: ProviderOutcomesTable;
  contacts: ContactsTable;
  suppressions: SuppressionsTable;
  jobs: JobsTable;
  domains: DomainsTable;
  templates: TemplatesTable;
  contents: ContentsTable;
  erased_contents: ErasedContentsTable;
  emails: EmailsTable;
  ses_messages: SesMessagesTable;
  attachments: AttachmentsTable;
  erased_attachments: ErasedAttachmentsTable;
  sms_messages: SmsMessagesTable;
  sms_senders: SmsSendersTable;
  captured_emails: CapturedEmailsTable;
  captured_sms: CapturedSmsTable;
  events: EventsTable;
  outbox: OutboxTable;
  idempotency_keys: IdempotencyKeysTable;
  workflows: WorkflowsTable;
  workflow_steps: WorkflowStepsTable;
  workflow_transitions: WorkflowTransitionsTable;
  executions: ExecutionsTable;
  execution_steps: ExecutionStepsTable;
  execution_waits: ExecutionWaitsTable;
  timer_seconds: TimerSecondsTable;
  begin_rates: BeginRatesTable;
  timer_rate: TimerRateTable;
  segments: SegmentsTable;
  segment_members: SegmentMembersTable;
  campaigns: CampaignsTable;
  campaign_chunks: CampaignChunksTable;
  storefront_variants: StorefrontVariantsTable;
  back_in_stock_waits: BackInStockWaitsTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
}
