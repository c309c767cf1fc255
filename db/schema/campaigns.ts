import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { AudienceType, CampaignStatus, PausedReason } from '../../rules/campaigns/campaign.ts';
import type { LatePolicy } from '../../rules/campaigns/timing.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { MailTextColumns } from '../contents/mail-text.ts';
import type { GeneratedTimestamp, NullableJson, NullableTimestamp } from './columns.ts';
import type { Generated } from 'kysely';

/** Campaigns, and the chunks in which their audience is taken. */
export interface CampaignsTables {
  campaigns: CampaignsTable;
  campaign_chunks: CampaignChunksTable;
}

export interface CampaignsTable extends MailTextColumns {
  id: Generated<string>;
  project_id: string;
  name: string;
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
  send_no: Generated<number>;
  audience_cursor: string | null;
  audience_done: Generated<boolean>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface CampaignChunksTable {
  campaign_id: string;
  seq: number;
  project_id: string;
  first_id: string;
  last_id: string;
  size: number;
  zone: string | null;
  not_before: NullableTimestamp;
  done_at: NullableTimestamp;
}
