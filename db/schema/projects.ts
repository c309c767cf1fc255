import type { Generated, GeneratedAlways } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { Role } from '../../rules/access/scopes.ts';
import type { TrackingMode } from '../../rules/content/message-tracking.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { GeneratedJson, GeneratedTimestamp, NullableJson, NullableTimestamp, Timestamp } from './columns.ts';

/** Projects, their members and permissions, and their usage. */
export interface ProjectsTables {
  projects: ProjectsTable;
  users: UsersTable;
  memberships: MembershipsTable;
  sessions: SessionsTable;
  sign_in_links: SignInLinksTable;
  invitations: InvitationsTable;
  api_keys: ApiKeysTable;
  audit_log: AuditLogTable;
  login_failures: LoginFailuresTable;
  rate_windows: RateWindowsTable;
  monthly_usage: MonthlyUsageTable;
}

export interface ProjectsTable {
  id: Generated<string>;
  name: string;
  public_key: string;
  public_key_hash: Buffer;
  tracking: Generated<TrackingMode>;
  send_rate_per_second: number | null;
  monthly_email_limit: number | null;
  bounce_guard: Generated<number>;
  complaint_guard: Generated<number>;
  color: string | null;
  double_opt_in: Generated<boolean>;
  double_opt_in_template_id: string | null;
  frequency_max: number | null;
  frequency_days: number | null;
  timezone: Generated<string>;
  /** The country (ISO 3166-1 alpha-2) of phone numbers without a calling code. */
  phone_country: string | null;
  /** Null means false: the project is older than this setting. */
  resubscribe_protected: boolean | null;
  /** Null means false. */
  public_key_open: boolean | null;
  sending_window: NullableJson<SendingWindow>;
  held_at: NullableTimestamp;
  hold_reason: string | null;
  /**
   * An operator sets the columns with the prefix `operator_`. The project sets the columns of the same name without the
   * prefix.
   */
  operator_send_rate_per_second: number | null;
  operator_monthly_email_limit: number | null;
  operator_bounce_guard: number | null;
  operator_complaint_guard: number | null;
  operator_held_at: NullableTimestamp;
  operator_hold_reason: string | null;
  /** The send rate that applies: the lower of the operator's and the project's limit. */
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
  role: Role;
  created_at: GeneratedTimestamp;
}

export interface SessionsTable {
  token_hash: Buffer;
  user_id: string;
  project_id: string;
  created_at: GeneratedTimestamp;
  expires_at: Timestamp;
}

export interface InvitationsTable {
  id: Generated<string>;
  project_id: string;
  email: string;
  role: Role;
  token_hash: Buffer;
  invited_by: string;
  created_at: GeneratedTimestamp;
  expires_at: Timestamp;
}

export interface SignInLinksTable {
  user_id: string;
  project_id: string;
  token_hash: Buffer;
  /** The password hash when the link was created. A change of the password thus invalidates the link. */
  password_hash: string;
  expires_at: Timestamp;
}

export interface ApiKeysTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  key_hash: Buffer;
  prefix: string;
  scopes: string[];
  mode: KeyMode;
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
  details: GeneratedJson<Record<string, unknown>>;
  created_at: GeneratedTimestamp;
}

export interface LoginFailuresTable {
  subject: string;
  failed_at: GeneratedTimestamp;
}

/** An unlogged table: a crash of Postgres loses the counts of the current windows, which last a minute or an hour. */
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
