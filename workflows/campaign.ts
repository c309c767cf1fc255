import { continueAsNew, defineSignal, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { type CampaignInput, type CampaignProgress, NEW_CAMPAIGN } from '../rules/campaigns/campaign.ts';
import { control } from './campaign-activities.ts';
import { Audience } from './campaign-audience.ts';
import { heedClock, newChunk } from './campaign-progress.ts';
import { Sending } from './campaign-sending.ts';
import { awaitStart, type Start } from './campaign-start.ts';

/**
 * The campaign's row has changed (rescheduled, cancelled, paused, resumed, released): read it again. May come twice,
 * early, or late.
 */
export const changedSignal = defineSignal('changed');

/**
 * Sends one start of a campaign: waits for its time, takes the audience into the ledger, sends it chunk by chunk while
 * the rest is taken, and marks it SENT. What happens to it is decided in the database by conditional updates; this only
 * walks along. Nothing here grows with the number of recipients but the count of chunks that the provider has put off.
 */
export async function campaignSend(input: CampaignInput): Promise<string> {
  const news = { changed: false };
  setHandler(changedSignal, () => {
    news.changed = true;
  });
  const progress: CampaignProgress = input.state ?? { ...NEW_CAMPAIGN, later: [] };
  const { projectId, campaignId, sendNo } = input;
  const start = { projectId, campaignId, sendNo };
  const standing = await awaitStart(start, news);
  if (!standing) return end(start);
  heedClock(progress, standing.clock);
  const audience = new Audience(start, progress);
  // What begins before the audience is whole is a matter of the answer: that of an earlier version has all of it taken
  // first.
  while (!progress.audienceDone && !audience.sendNow) {
    setCurrentDetails(`Taking the audience: ${progress.recipients} recipients so far`);
    if (!(await audience.takeMore())) return end(start);
  }
  let { rate, paused } = standing;
  for (;;) {
    const sending = new Sending({ start, progress, news, audience, rate, paused });
    const sent = await sending.run();
    ({ rate, paused } = sending);
    if (sent === 'continue') await continueAsNew<typeof campaignSend>({ ...start, state: progress });
    if (sent === 'ended') return end(start);
    const finish = await control.finishCampaignSend.executeWithOptions({ summary: 'mark it sent' }, [start]);
    if (finish.outcome === 'sent') return describeEnd(`Sent to ${progress.recipients} recipients`);
    if (finish.outcome === 'ended') return end(start);
    progress.later.push(...finish.openChunks.map(newChunk));
  }
}

/** What a cancelled start has left is skipped; one that went back to DRAFT has left nothing. */
async function end(start: Start): Promise<string> {
  setCurrentDetails('Cancelled: skipping whom it had not reached');
  const { skipped } = await control.skipCancelledRecipients.executeWithOptions({ summary: 'skip the rest' }, [start]);
  return describeEnd(`Ended before it was sent whole: ${skipped} recipients skipped`);
}

function describeEnd(text: string): string {
  setCurrentDetails(text);
  return text;
}
