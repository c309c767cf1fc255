import type { Generated } from 'kysely';
import type { NotStarted } from '../../rules/events/not-started.ts';
import type { GeneratedTimestamp, NullableJson } from './columns.ts';

/** What happened, as tenants and the service itself report it. */
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
   * Who brought it about, where that is kept: `user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public`,
   * `contact`, or who reported it.
   */
  actor: string | null;
  /** Workflows that it triggers and did not start; null where there are none. */
  not_started: NullableJson<NotStarted[]>;
  created_at: GeneratedTimestamp;
}

/** What became of live mails in an hour that is over. */
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
