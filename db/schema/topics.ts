import type { Generated } from 'kysely';
import type { GeneratedTimestamp } from './columns.ts';

/** Topics of a project, and each contact's choices. */
export interface TopicsTables {
  topics: TopicsTable;
  topic_choices: TopicChoicesTable;
  topic_refusals: TopicRefusalsTable;
}

export interface TopicsTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  slug: string;
  description: string | null;
  default_subscribed: boolean;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

/** The topics that contacts have joined or left. For a topic without a row, the topic's default applies. */
export interface TopicChoicesTable {
  project_id: string;
  contact_id: string;
  topic_id: string;
  joined: boolean;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

/** A topic that a person has left, stored by the hash of an address that no contact has now. */
export interface TopicRefusalsTable {
  project_id: string;
  address_hash: Buffer;
  topic_id: string;
}
