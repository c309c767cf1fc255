import type { Generated } from 'kysely';
import type { NotStarted } from '../../rules/events/not-started.ts';
import type { GeneratedTimestamp, NullableJson } from './columns.ts';

/** Events that tenants or the service have recorded. */
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
   * The actor that caused the event: `user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public`, `contact`, or the
   * reporter of the feedback. Null if the actor is not recorded.
   */
  actor: string | null;
  /**
   * Workflows that the event triggered but that did not start, with the reasons. Null if no start was
   * refused.
   */
  not_started: NullableJson<NotStarted[]>;
  created_at: GeneratedTimestamp;
}

/** Counts of live emails in one past hour. */
export interface MailHoursTable {
  project_id: string;
  /** The hour, as the number of hours since 1970. */
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
  /** The first hour whose counts are not in `mail_hours` yet. */
  hour: number;
}
