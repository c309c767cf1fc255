import { continueAsNew, defineSignal, patched, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { type CampaignInput, type CampaignProgress, LATER_MAX, NEW_CAMPAIGN } from '../rules/campaigns/campaign.ts';
import { newChunk } from '../rules/campaigns/later-chunk.ts';
import { counted } from '../rules/counted.ts';
import { control } from './campaign-activities.ts';
import { AudienceStage } from './campaign-audience.ts';
import { applyClockChange, noteWaiting } from './campaign-progress.ts';
import { Sending } from './campaign-sending.ts';
import { awaitStart, type CampaignRunInput } from './campaign-start.ts';
import { endAs, endingWithCode } from './ends.ts';
import { RunLength } from './run-length.ts';

/**
 * The campaign's row has changed (rescheduled, cancelled, paused, resumed, released), so read it again. May come twice,
 * early, or late.
 */
export const changedSignal = defineSignal('changed');

/**
 * Sends one start of a campaign: waits for its time, adds the audience to the ledger, sends it chunk by chunk while the
 * rest is added, and marks it SENT. Conditional updates in the database decide what happens to the campaign; the
 * workflow follows them. Nothing here grows with the number of recipients, because waiting chunks are in Postgres.
 */
export async function campaignSend(input: CampaignInput): Promise<string> {
  return endingWithCode(() => send(input));
}

async function send(input: CampaignInput): Promise<string> {
  const news = { changed: false, length: new RunLength() };
  setHandler(changedSignal, () => {
    news.changed = true;
    news.length.countSignal();
  });
  const progress: CampaignProgress = input.state ?? { ...NEW_CAMPAIGN, later: [] };
  const { projectId, campaignId, sendNo } = input;
  const start = { projectId, campaignId, sendNo };
  if (hasTooManyLater(progress)) await keepLater(start, progress);
  const standing = await awaitStart(start, news);
  if (standing === 'continue') return continueAsNew<typeof campaignSend>({ ...start, state: progress });
  if (standing === 'ended') return end(start);
  applyClockChange(progress, standing.clock);
  const audience = new AudienceStage(start, progress);
  // The result decides whether sending starts before the audience is complete. With an earlier version of the activity
  // it does not.
  while (!progress.audienceDone && !audience.sendNow) {
    setCurrentDetails(`Reading the audience: ${counted(progress.recipients, 'recipient')} so far`);
    if (!(await audience.takeMore())) return end(start);
  }
  let { rate, paused } = standing;
  for (;;) {
    const sending = new Sending({ start, progress, news, audience, rate, paused });
    const sent = await sending.run();
    ({ rate, paused } = sending);
    if (sent === 'continue') await continueAsNew<typeof campaignSend>({ ...start, state: progress });
    if (sent === 'ended') return end(start);
    const finish = await control.finishCampaignSend.executeWithOptions({ summary: 'mark the campaign as sent' }, [
      start,
    ]);
    if (finish.outcome === 'sent') return describeEnd(`Sent to ${counted(progress.recipients, 'recipient')}`);
    if (finish.outcome === 'ended') return end(start);
    progress.later.push(...finish.openChunks.map(newChunk));
  }
}

/** The most chunks that one activity takes: about 75 KB. */
const KEPT_AT_A_TIME = 500;

/** Tells whether an earlier version has passed on more chunks than a run may hold. */
function hasTooManyLater({ later }: CampaignProgress): boolean {
  return later.length > LATER_MAX && patched('later-in-postgres');
}

/** Moves waiting chunks from the workflow's state to Postgres. */
async function keepLater(start: CampaignRunInput, progress: CampaignProgress): Promise<void> {
  const { later, clock } = progress;
  for (let at = 0; at < later.length; at += KEPT_AT_A_TIME) {
    const chunks = later.slice(at, at + KEPT_AT_A_TIME);
    const summary = `keep ${chunks.length} chunks in Postgres`;
    await control.keepChunks.executeWithOptions({ summary }, [{ ...start, chunks, clock }]);
    for (const chunk of chunks) noteWaiting(progress, chunk);
  }
  progress.later = [];
}

/** Skips the remaining recipients of a cancelled start. A campaign that went back to DRAFT has none. */
async function end(start: CampaignRunInput): Promise<string> {
  setCurrentDetails('Cancelled: skipping the remaining recipients');
  const { skipped, status } = await control.skipCancelledRecipients.executeWithOptions({ summary: 'skip the rest' }, [
    start,
  ]);
  const story = describeEnd(`Ended before it was sent whole: ${counted(skipped, 'recipient')} skipped`);
  // Absent from results of earlier versions.
  return status === 'CANCELLED' ? endAs({ status, reason: story }) : story;
}

function describeEnd(text: string): string {
  setCurrentDetails(text);
  return text;
}
