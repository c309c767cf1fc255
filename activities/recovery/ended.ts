import {
  type EndedBetween,
  type EndedExecution,
  enqueueExecutionEnds,
  findEndedExecutions,
  listEndedCampaignStarts,
  listEndedJobs,
  listFailedOrCancelled,
} from '../../db/recovery/ended-rows.ts';
import { enqueueJobs } from '../../db/recovery/lost-work.ts';
import { inTransaction } from '../../db/transaction.ts';
import { enqueueCampaigns } from '../../engine/campaigns/lost-campaigns.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

/**
 * Records that ended longer ago than this are not compared. A record and a run that have both ended do not change any
 * more, so comparing them in a few rounds is enough.
 */
const LOOK_BACK_MS = 2 * 3_600_000;
const PAGE = 500;
/**
 * The maximum number of ended jobs, and of ended campaigns, that one round compares. Two hours rarely have more. If
 * they have more, a round does not compare the others.
 */
const LISTED_MAX = 2_000;

/**
 * For each status of a record in Postgres, the statuses of a Temporal run that mean the same. A terminated run counts
 * as cancelled.
 */
const MATCHING_STATUSES: Record<string, readonly string[]> = {
  COMPLETED: ['COMPLETED'],
  EXITED: ['COMPLETED'],
  SENT: ['COMPLETED'],
  FAILED: ['FAILED', 'TIMED_OUT'],
  CANCELLED: ['CANCELLED', 'TERMINATED'],
};

/**
 * Compares records in Postgres and runs in Temporal that have both ended. Temporal cannot change the end of a run. If
 * the two ends differ, this function starts a new run. The new run only ends in the same way as the record.
 */
export async function recoverEndedWorkflows(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const between = { since: new Date(Date.now() - LOOK_BACK_MS), until: new Date(Date.now() - turn.settledMs) };
  if (turn.cursor === null) {
    await recoverJobsAndCampaigns(deps, between);
    for (let cursor: string | null = null; ; ) {
      const page = await deps.lifecycle.runs.listEndedBadly({ since: between.since, cursor, limit: PAGE });
      const ids = page.runs.map(({ rowId }) => rowId);
      await endMismatchedExecutions(deps, await findEndedExecutions(deps.db, { ids, until: between.until }));
      cursor = page.next;
      if (cursor === null) break;
    }
  }
  let after = turn.cursor ?? undefined;
  for (;;) {
    const page = await listFailedOrCancelled(deps.db, { ...between, after, limit: PAGE });
    await endMismatchedExecutions(deps, page);
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

/**
 * Starts a new run for each execution whose last run ended in another way than the execution, and for each failed
 * execution without a run.
 */
async function endMismatchedExecutions(deps: RecoveryDeps, executions: EndedExecution[]): Promise<void> {
  const { db, lifecycle, outbox, log } = deps;
  const toWorkflowId = ({ id }: EndedExecution) => lifecycle.names.execution(id);
  const last = await lifecycle.runs.findLast(executions.map(toWorkflowId));
  const mismatched = executions.filter((execution) => {
    const runStatus = last.get(toWorkflowId(execution))?.status;
    return runStatus === undefined ? execution.status === 'FAILED' : hasOtherEnd(execution.status, runStatus);
  });
  outbox.wake(await inTransaction(db, (trx) => enqueueExecutionEnds(trx, mismatched)));
  for (const execution of mismatched) {
    const { projectId, id: executionId, status } = execution;
    log.warn(
      {
        projectId,
        executionId,
        workflow: last.get(toWorkflowId(execution))?.status ?? null,
        done: `a new run ends as ${status}`,
      },
      'an execution had ended in another way',
    );
  }
}

/**
 * Starts a new workflow for each ended job and campaign whose workflow ended in another way. The new workflow reads the
 * record first and ends in the same way.
 */
async function recoverJobsAndCampaigns(
  { db, lifecycle, outbox, log }: RecoveryDeps,
  between: EndedBetween,
): Promise<void> {
  const jobs = await listEndedJobs(db, { ...between, limit: LISTED_MAX });
  const starts = await listEndedCampaignStarts(db, { ...between, limit: LISTED_MAX });
  const jobId = ({ id }: { id: string }) => lifecycle.names.job(id);
  const startId = (start: (typeof starts)[number]) => lifecycle.names.campaign(start.campaignId, start.sendNo);
  const last = await lifecycle.runs.findLast([...jobs.map(jobId), ...starts.map(startId)]);
  const isMismatched = (workflowId: string, status: string) => {
    const runStatus = last.get(workflowId)?.status;
    return runStatus === undefined ? status === 'FAILED' : hasOtherEnd(status, runStatus);
  };
  const mismatchedJobs = jobs.filter((job) => isMismatched(jobId(job), job.status));
  const mismatchedStarts = starts.filter((start) => isMismatched(startId(start), start.status));
  const queued: OutboxRow[] = await inTransaction(db, async (trx) => [
    ...(await enqueueJobs(trx, mismatchedJobs)),
    ...(await enqueueCampaigns(trx, mismatchedStarts)),
  ]);
  outbox.wake(queued);
  for (const { projectId, kind, refId } of queued)
    log.warn({ projectId, kind, refId, done: 'a new run ends as its record' }, 'a record had ended in another way');
}

/**
 * Tells whether a run ended in another way than its record. A running workflow does not count here, because
 * `recoverRunningWorkflows` repairs it.
 */
function hasOtherEnd(status: string, runStatus: string): boolean {
  return runStatus !== 'RUNNING' && runStatus !== 'PAUSED' && !MATCHING_STATUSES[status]?.includes(runStatus);
}
