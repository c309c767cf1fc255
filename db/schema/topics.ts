import type { Generated } from 'kysely';
import type { GeneratedTimestamp } from './columns.ts';

/** Topics that a project writes about, and each contact's choice for them. */
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

/** No row: the topic's default. */
export interface TopicChoicesTable {
  project_id: string;
  contact_id: string;
  topic_id: string;
  joined: boolean;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

/** A topic that the person left whose address no contact has now. */
export interface TopicRefusalsTable {
  project_id: string;
  address_hash: Buffer;
  topic_id: string;
}
