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
  created_at: GeneratedTimestamp;
}
