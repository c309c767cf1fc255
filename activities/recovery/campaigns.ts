import { inTransaction } from '../../db/transaction.ts';
import {
  cancelTerminatedCampaign,
  enqueueCampaigns,
  listOpenCampaigns,
  type OpenCampaign,
  pauseRestoredCampaign,
} from '../../engine/campaigns/lost-campaigns.ts';
import { CAMPAIGN_OPEN } from '../../rules/campaigns/campaign.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { ROW_MISSING } from '../../rules/row-missing.ts';
import { hasSentChunks } from '../../temporal/run-histories.ts';
import { isOpenStatus, type LastRun } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';
import { reportRecoveryFailure } from './recovery-failure.ts';

const PAGE = 200;
/** The types of the failures that a campaign's workflow has only if its row is missing, or older than the workflow. */
const DATABASE_FAILURES = [ROW_MISSING, CAMPAIGN_OPEN];

/**
 * Repairs each campaign that has not ended and has no running workflow. If an operator cancelled or terminated the
 * workflow in Temporal, the campaign is cancelled, because the operator wanted it to stop. Otherwise a new workflow is
 * started for the remaining recipients. If the ledger may lack recipients who got the email, because Postgres was
 * restored from a backup, the campaign first becomes PAUSED.
 */
export async function recoverCampaigns(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const { lifecycle } = deps;
  let after = turn.cursor ?? undefined;
  for (;;) {
    const page = await listOpenCampaigns(deps.db, { after, limit: PAGE });
    const last = await lifecycle.runs.findLast(page.map((start) => toWorkflowId(deps, start)));
    for (const start of page) {
      const { projectId, campaignId } = start;
      await recoverCampaign(deps, start, last.get(toWorkflowId(deps, start))).catch((error: unknown) =>
        reportRecoveryFailure(deps, { projectId, campaignId }, error),
      );
    }
    after = page.at(-1)?.campaignId;
    if (page.length < PAGE || after === undefined) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

const toWorkflowId = ({ lifecycle }: RecoveryDeps, { campaignId, sendNo }: OpenCampaign) =>
  lifecycle.names.campaign(campaignId, sendNo);

type EndedRun = Pick<LastRun, 'status' | 'runId'>;

async function recoverCampaign(
  deps: RecoveryDeps,
  { cancelled, ...start }: OpenCampaign,
  run: EndedRun | undefined,
): Promise<void> {
  const { db, outbox, log } = deps;
  if (isOpenStatus(run?.status)) return;
  const isStopped = run?.status === 'TERMINATED' || run?.status === 'CANCELLED';
  const mustPause = !cancelled && run !== undefined && (await mayLackSentEmails(deps, start, run));
  const { outbox: queued, done } = await inTransaction(
    db,
    async (trx): Promise<{ outbox: OutboxRow[]; done: string }> => {
      if (isStopped && !cancelled) return { outbox: await cancelTerminatedCampaign(trx, start), done: 'cancelled' };
      if (mustPause) await pauseRestoredCampaign(trx, start);
      return {
        outbox: await enqueueCampaigns(trx, [start]),
        done: mustPause ? 'PAUSED, and started again' : 'started again',
      };
    },
  );
  outbox.wake(queued);
  const { projectId, campaignId } = start;
  log.warn({ projectId, campaignId, workflow: run?.status ?? null, done }, 'a campaign had no running workflow');
}

/**
 * Tells whether the ledger may lack recipients who got the email. That is possible if the workflow had sent emails, and
 * its end shows that the row in Postgres is older than the workflow. A workflow completes only after its row has ended,
 * and it fails with one of `DATABASE_FAILURES` only if the database was restored. After another failure or a timeout,
 * the ledger is complete.
 */
async function mayLackSentEmails(
  { lifecycle }: RecoveryDeps,
  { campaignId, sendNo }: Pick<OpenCampaign, 'campaignId' | 'sendNo'>,
  { status, runId }: EndedRun,
): Promise<boolean> {
  if (status !== 'COMPLETED' && status !== 'FAILED') return false;
  const workflowId = lifecycle.names.campaign(campaignId, sendNo);
  const history = await lifecycle.runs.readRunHistory({ workflowId, runId });
  const isOlder = status === 'COMPLETED' || DATABASE_FAILURES.some((type) => type === history.failureType);
  return isOlder && hasSentChunks(history);
}
