import { inTransaction } from '../../db/transaction.ts';
import {
  cancelTerminatedCampaign,
  enqueueCampaigns,
  listOpenCampaigns,
  type OpenCampaign,
  pauseRestoredCampaign,
} from '../../engine/campaigns/lost-campaigns.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { hasSentChunks } from '../../temporal/run-histories.ts';
import { isOpenStatus } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';
import { reportRecoveryFailure } from './recovery-failure.ts';

const PAGE = 200;

/**
 * Repairs each campaign that has not ended and has no running workflow. If an operator cancelled or terminated the
 * workflow in Temporal, the campaign is cancelled, because the operator wanted it to stop. Otherwise a new workflow is
 * started. If the closed workflow had sent emails, the campaign first becomes PAUSED. In this case, Postgres is older
 * than Temporal, for example after a restore, and the ledger may lack recipients who got the email.
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

async function recoverCampaign(
  deps: RecoveryDeps,
  { cancelled, ...start }: OpenCampaign,
  run: { status: string; runId: string } | undefined,
): Promise<void> {
  const { db, outbox, log } = deps;
  if (isOpenStatus(run?.status)) return;
  const isStopped = run?.status === 'TERMINATED' || run?.status === 'CANCELLED';
  const mustPause = !cancelled && !isStopped && run !== undefined && (await hasSent(deps, start, run.runId));
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

async function hasSent(
  { lifecycle }: RecoveryDeps,
  { campaignId, sendNo }: { campaignId: string; sendNo: number },
  runId: string,
): Promise<boolean> {
  const workflowId = lifecycle.names.campaign(campaignId, sendNo);
  return hasSentChunks(await lifecycle.runs.readRunHistory({ workflowId, runId }));
}
