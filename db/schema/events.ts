import type { Generated } from 'kysely';
import type { NotStarted } from '../../rules/events/not-started.ts';
import type { GeneratedTimestamp, NullableJson } from './columns.ts';

/** Events, as tenants and the service itself report them. */
export interface EventsTables {
  events: EventsTable;
  mail_hours: MailHoursTable;
  mail_hours_until: MailHoursUntilTable;
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
  /**
   * The actor that caused the event, if that is kept: `user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public`,
   * `contact`, or the reporter.
   */
  actor: string | null;
  /** Workflows that the event triggers and did not start. Null if there are no such workflows. */
  not_started: NullableJson<NotStarted[]>;
  created_at: GeneratedTimestamp;
}

/** Outcomes of live emails in one past hour. */
export interface MailHoursTable {
  project_id: string;
  /** Whole hours since 1970. */
  hour: number;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
}

export interface MailHoursUntilTable {
  one: Generated<boolean>;
  /** The first hour that is not in `mail_hours` yet. */
  hour: number;
}
