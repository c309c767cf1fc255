import type { Generated } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { AudienceType, CampaignStatus, PausedReason } from '../../rules/campaigns/campaign.ts';
import type { ChunkFigures } from '../../rules/campaigns/counts.ts';
import type { LatePolicy } from '../../rules/campaigns/timing.ts';
import type { CampaignVariant, VariantTest, WinnerSource } from '../../rules/campaigns/variants.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { GeneratedTimestamp, NullableJson, NullableTimestamp } from './columns.ts';
import type { EmailTextColumns } from './contents.ts';

/** Campaigns, the chunks of their audience, and clicks of their links. */
export interface CampaignsTables {
  campaigns: CampaignsTable;
  campaign_chunks: CampaignChunksTable;
  link_clicks: LinkClicksTable;
  campaign_machine_hours: CampaignMachineHoursTable;
  campaign_touches: CampaignTouchesTable;
}

export interface CampaignsTable extends EmailTextColumns {
  id: Generated<string>;
  project_id: string;
  name: string;
  slug: Generated<string>;
  description: string | null;
  audience_type: AudienceType;
  segment_id: string | null;
  audience_filter: NullableJson<Condition>;
  status: Generated<CampaignStatus>;
  mode: Generated<KeyMode>;
  scheduled_at: NullableTimestamp;
  started_at: NullableTimestamp;
  sent_at: NullableTimestamp;
  cancelled_at: NullableTimestamp;
  paused_reason: PausedReason | null;
  own_window: Generated<boolean>;
  sending_window: NullableJson<SendingWindow>;
  send_at_local: string | null;
  late_policy: Generated<LatePolicy>;
  going_since: NullableTimestamp;
  content_id: string | null;
  topic_id: string | null;
  /** Hashes of the images that the body or a variant names. The table's triggers write it. */
  asset_hashes: Generated<string[] | null>;
  send_no: Generated<number>;
  audience_cursor: string | null;
  audience_done: Generated<boolean>;
  variants: NullableJson<CampaignVariant[]>;
  variant_test: NullableJson<VariantTest>;
  /** In the order of `variants`. They do not change after the start. */
  variant_content_ids: string[] | null;
  /** Set when the test share was sent. */
  test_ends_at: NullableTimestamp;
  /** The number of the winning variant. */
  winner: number | null;
  winner_by: WinnerSource | null;
  winner_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  /** When its state, progress or content was last changed. */
  updated_at: GeneratedTimestamp;
  /** When its content was last changed. Null for a campaign from before this column, until its next change. */
  edited_at: NullableTimestamp;
}

export interface CampaignChunksTable {
  campaign_id: string;
  /** From 1. Below 0 while the recipients wait for the winner. */
  seq: number;
  project_id: string;
  first_id: string;
  last_id: string;
  size: number;
  zone: string | null;
  not_before: NullableTimestamp;
  /**
   * Variant of all recipients of the chunk. Null if the campaign has no variants, or if the winner is not known yet.
   */
  variant: number | null;
  /** True for recipients who waited for the winner, or would have waited. */
  rest: Generated<boolean>;
  done_at: NullableTimestamp;
  /** The chunk is in a turn, or its worker died in one. */
  busy: Generated<boolean>;
  /** Outcomes of the chunk's recipients, see `db/campaigns/figures.ts`. Null if they have to be counted. */
  figures: NullableJson<ChunkFigures>;
  /** When its next turn is due; null while the chunk does not wait. The columns below are set only with it. */
  due_at: NullableTimestamp;
  /** Identifies the settings by which the chunk waits for an hour or a window; null if the provider deferred it. */
  due_clock: string | null;
  /** When the provider first deferred some of its emails; null if it never did. */
  deferred_since: NullableTimestamp;
  deferrals: number | null;
  /** The row at which the next turn resumes the round. Null starts a new round. */
  resume_id: string | null;
  /** The provider deferred emails of this round, before `resume_id`. */
  resume_deferred: boolean | null;
}

/** Emails that got an event after the statistics of their chunk were counted. An email may have several rows. */
export interface CampaignTouchesTable {
  campaign_id: string;
  email_id: string;
  project_id: string;
}

export interface CampaignMachineHoursTable {
  campaign_id: string;
  /** Hours are numbered from 1970. */
  hour: number;
  project_id: string;
  opens: Generated<number>;
  clicks: Generated<number>;
}

export interface LinkClicksTable {
  campaign_id: string;
  email_id: string;
  /** Position in the list of the content's links. */
  link: number;
  project_id: string;
  content_id: string;
  clicks: Generated<number>;
  machine_clicks: Generated<number>;
}
