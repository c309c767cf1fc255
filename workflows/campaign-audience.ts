import type { CampaignProgress } from '../rules/campaigns/campaign.ts';
import { bulkActivities } from './campaign-activities.ts';
import { mergeReport } from './campaign-progress.ts';
import type { CampaignRunInput } from './campaign-start.ts';

/** Adds the contacts of the audience to the ledger, part by part. */
export class AudienceStage {
  /** Whether sending may start while the rest of the audience is still being added. */
  sendNow = false;
  private readonly start: CampaignRunInput;
  private readonly progress: CampaignProgress;
  private round = 0;

  constructor(start: CampaignRunInput, progress: CampaignProgress) {
    this.start = start;
    this.progress = progress;
  }

  /** Adds the next part of the audience. Returns false when the campaign should no longer be sent. */
  async addPart(): Promise<boolean> {
    const { start, progress } = this;
    const input = { ...start, round: this.round++ };
    const result = await bulkActivities.takeCampaignAudience.executeWithOptions({ summary: 'read the audience' }, [
      input,
    ]);
    if (result.outcome === 'ended') return false;
    progress.audienceDone = result.done;
    progress.recipients = result.recipients;
    mergeReport(progress, result);
    this.sendNow = result.sendNow ?? false;
    return true;
  }
}
