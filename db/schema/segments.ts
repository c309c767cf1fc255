import type { Generated } from 'kysely';
import type { Condition } from '../../rules/filters/filters.ts';
import type { GeneratedTimestamp, NullableJson, NullableTimestamp } from './columns.ts';

export type SegmentType = 'DYNAMIC' | 'STATIC';

/** Segments and their members. */
export interface SegmentsTables {
  segments: SegmentsTable;
  segment_members: SegmentMembersTable;
  segment_member_changes: SegmentMemberChangesTable;
}

export interface SegmentsTable {
  id: Generated<string>;
  project_id: string;
  name: string;
  slug: string;
  description: string | null;
  type: Generated<SegmentType>;
  condition: NullableJson<Condition>;
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

/** The history of members added to and removed from STATIC segments. */
export interface SegmentMemberChangesTable {
  id: Generated<string>;
  project_id: string;
  segment_id: string;
  contact_id: string;
  change: 'entry' | 'exit';
  /** The actor of the change: `user:<id>` or `key:<id>`. */
  actor: string;
  created_at: GeneratedTimestamp;
}
