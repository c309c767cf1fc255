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

/** Campaigns, the chunks of their audience, clicks on their links, and opens and clicks by bots. */
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
  /** Hashes of the images in the body and the variants. Triggers of the table set the column. */
  asset_hashes: Generated<string[] | null>;
  send_no: Generated<number>;
  audience_cursor: string | null;
  audience_done: Generated<boolean>;
  variants: NullableJson<CampaignVariant[]>;
  variant_test: NullableJson<VariantTest>;
  /** Ids of the contents, in the order of `variants`. The contents do not change after the start. */
  variant_content_ids: string[] | null;
  /** When the winner is determined. Null until the share of the test was sent. */
  test_ends_at: NullableTimestamp;
  /** The number of the winning variant. */
  winner: number | null;
  winner_by: WinnerSource | null;
  winner_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  /** When the campaign's status, progress or content was last changed. */
  updated_at: GeneratedTimestamp;
  /** When the content was last changed. Null if the content has not changed since this column was added. */
  edited_at: NullableTimestamp;
}

export interface CampaignChunksTable {
  campaign_id: string;
  /** The chunk's number, from 1. Negative while the chunk's recipients wait for the winner of a test. */
  seq: number;
  project_id: string;
  first_id: string;
  last_id: string;
  size: number;
  zone: string | null;
  not_before: NullableTimestamp;
  /** Variant of all recipients of the chunk. Null if the campaign has no variants, or until the winner is known. */
  variant: number | null;
  /** True for recipients who wait for the winner, or waited for it. */
  rest: Generated<boolean>;
  done_at: NullableTimestamp;
  /** True while a worker sends the chunk. Stays true if the worker is killed. */
  busy: Generated<boolean>;
  /** Statistics of the chunk's recipients (see `db/campaigns/figures.ts`). Null if the statistics must be counted. */
  figures: NullableJson<ChunkFigures>;
  /**
   * When the next turn of the chunk is due. Null if the chunk does not wait. The columns below have values only while
   * the chunk waits.
   */
  due_at: NullableTimestamp;
  /**
   * Identifies the timing settings that make the chunk wait. Null if the chunk waits because the provider deferred its
   * emails.
   */
  due_clock: string | null;
  /** When the provider first deferred emails of the chunk. Null if the provider has deferred none. */
  deferred_since: NullableTimestamp;
  deferrals: number | null;
  /** The row from which the next turn continues its pass over the chunk. Null starts a new pass. */
  resume_id: string | null;
  /** True if the provider deferred emails of this pass before `resume_id`. */
  resume_deferred: boolean | null;
}

/** Marks of emails that changed after the statistics of their chunk were counted. An email may have several marks. */
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
  /** Position of the link in the content's list of links. */
  link: number;
  project_id: string;
  content_id: string;
  clicks: Generated<number>;
  machine_clicks: Generated<number>;
}
