import { continueAsNew, defineSignal, patched, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { type CampaignInput, type CampaignProgress, LATER_MAX, NEW_CAMPAIGN } from '../rules/campaigns/campaign.ts';
import { createChunkState } from '../rules/campaigns/chunk-state.ts';
import { pluralize } from '../rules/pluralize.ts';
import { controlActivities } from './campaign-activities.ts';
import { AudienceStage } from './campaign-audience.ts';
import { addWaitingChunk, applyClockChange } from './campaign-progress.ts';
import { Sending } from './campaign-sending.ts';
import { awaitStart, type CampaignRunInput } from './campaign-start.ts';
import { endAs, failWithActivityCode } from './ends.ts';
import { RunLength } from './run-length.ts';

/**
 * Signals that the campaign or its project has changed. A user has rescheduled, cancelled, paused or resumed the
 * campaign, or chosen the winner of its test. Or the project's sending window or time zone has changed, or a hold of
 * the project was released. Recovery sends this signal, too. The workflow then reads the campaign's row again. The
 * signal may arrive twice, early, or late.
 */
export const changedSignal = defineSignal('changed');

/**
 * Runs one start of a campaign, which has the number `sendNo`. Waits for the start time, adds the audience to the
 * ledger, sends the ledger chunk by chunk while the rest of the audience is added, and marks the campaign as SENT. The
 * database decides what happens to the campaign, and the workflow follows the results of its activities. The workflow's
 * state does not grow with the number of recipients, because waiting chunks are stored in Postgres.
 */
export async function campaignSend(input: CampaignInput): Promise<string> {
  return failWithActivityCode(() => send(input));
}

async function send(input: CampaignInput): Promise<string> {
  const signals = { changed: false, length: new RunLength() };
  setHandler(changedSignal, () => {
    signals.changed = true;
    signals.length.countSignal();
  });
  const progress: CampaignProgress = input.state ?? { ...NEW_CAMPAIGN, later: [] };
  const { projectId, campaignId, sendNo } = input;
  const start = { projectId, campaignId, sendNo };
  if (hasTooManyWaiting(progress)) await storeWaitingChunks(start, progress);
  const position = await awaitStart(start, signals);
  if (position === 'continue') return continueAsNew<typeof campaignSend>({ ...start, state: progress });
  if (position === 'ended') return endWorkflow(start);
  applyClockChange(progress, position.clock);
  const audience = new AudienceStage(start, progress);
  // The result of the activity says whether sending may start before the audience is complete. Activities of earlier
  // releases do not report this. The workflow then waits for the whole audience.
  while (!progress.audienceDone && !audience.sendNow) {
    setCurrentDetails(`Reading the audience: ${pluralize(progress.recipients, 'recipient')} so far`);
    if (!(await audience.addPart())) return endWorkflow(start);
  }
  let { rate, paused } = position;
  for (;;) {
    const sending = new Sending({ start, progress, signals, audience, rate, paused });
    const result = await sending.run();
    ({ rate, paused } = sending);
    if (result === 'continue') await continueAsNew<typeof campaignSend>({ ...start, state: progress });
    if (result === 'ended') return endWorkflow(start);
    const finish = await controlActivities.finishCampaignSend.executeWithOptions(
      { summary: 'mark the campaign as sent' },
      [start],
    );
    if (finish.outcome === 'sent') return showEnd(`Sent to ${pluralize(progress.recipients, 'recipient')}`);
    if (finish.outcome === 'ended') return endWorkflow(start);
    progress.later.push(...finish.openChunks.map(createChunkState));
  }
}

/** The maximum number of chunks in the input of one activity, which is then about 75 KB. */
const CHUNKS_PER_CALL = 500;

/**
 * Tells whether the state from the previous run has more waiting chunks than a run may keep in memory. This is possible
 * if the previous run was a run of an earlier release.
 */
function hasTooManyWaiting({ later }: CampaignProgress): boolean {
  return later.length > LATER_MAX && patched('later-in-postgres');
}

/** Moves waiting chunks from the workflow's state to Postgres. */
async function storeWaitingChunks(start: CampaignRunInput, progress: CampaignProgress): Promise<void> {
  const { later, clock } = progress;
  for (let at = 0; at < later.length; at += CHUNKS_PER_CALL) {
    const chunks = later.slice(at, at + CHUNKS_PER_CALL);
    const summary = `store ${chunks.length} waiting chunks in Postgres`;
    await controlActivities.keepChunks.executeWithOptions({ summary }, [{ ...start, chunks, clock }]);
    for (const chunk of chunks) addWaitingChunk(progress, chunk);
  }
  progress.later = [];
}

/**
 * Ends the workflow in the same way as this start of the campaign has ended in Postgres. Before that, marks as skipped
 * the recipients that got no email before the start was cancelled. A campaign that is a DRAFT again has no recipients
 * to skip.
 */
async function endWorkflow(start: CampaignRunInput): Promise<string> {
  setCurrentDetails('Ending: skipping recipients that got no email');
  const {
    skipped,
    status,
    reason = null,
  } = await controlActivities.skipCancelledRecipients.executeWithOptions({ summary: 'skip the remaining recipients' }, [
    start,
  ]);
  const summary = showEnd(
    status === 'SENT' ? 'Sent' : `Ended before it was sent completely: ${pluralize(skipped, 'recipient')} skipped`,
  );
  return status === 'CANCELLED' ? endAs({ status, reason }) : summary;
}

function showEnd(text: string): string {
  setCurrentDetails(text);
  return text;
}
