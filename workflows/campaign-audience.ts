import type { CampaignProgress } from '../rules/campaigns/campaign.ts';
import { bulk } from './campaign-activities.ts';
import { learnOfTest } from './campaign-progress.ts';
import type { Start } from './campaign-start.ts';

/** Takes the audience into the ledger, a part at a time. */
export class Audience {
  /** What has been taken may be sent while the rest is. */
  sendNow = false;
  private readonly start: Start;
  private readonly progress: CampaignProgress;
  private round = 0;

  constructor(start: Start, progress: CampaignProgress) {
    this.start = start;
    this.progress = progress;
  }

  /** False when the campaign is no longer to be sent. */
  async takeMore(): Promise<boolean> {
    const { start, progress } = this;
    const input = { ...start, round: this.round++ };
    const taken = await bulk.takeCampaignAudience.executeWithOptions({ summary: 'take the audience' }, [input]);
    if (taken.outcome === 'ended') return false;
    progress.audienceDone = taken.done;
    progress.recipients = taken.recipients;
    learnOfTest(progress, taken);
    this.sendNow = taken.sendNow ?? false;
    return true;
  }
}
