import type { Generated } from 'kysely';
import type { GeneratedTimestamp, NullableJson } from './columns.ts';

/** What happened, as tenants and the service itself report it. */
export interface EventsTables {
  events: EventsTable;
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
  /** Who brought it about, where that is kept: `user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public`, `contact`, or who reported it. */
  actor: string | null;
  created_at: GeneratedTimestamp;
}
