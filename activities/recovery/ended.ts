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
import { isOpenStatus } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

/**
 * The maximum time since the end of a record for which the record is compared with its run in Temporal. A record and a
 * run that have both ended do not change any more, so comparing them in a few rounds is enough.
 */
const LOOK_BACK_MS = 2 * 3_600_000;
const PAGE = 500;

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
 * the two ends differ, this function starts a new run. The new run does no work, and ends in the same way as the
 * record.
 */
export async function recoverEndedWorkflows(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const between = { since: new Date(Date.now() - LOOK_BACK_MS), until: new Date(Date.now() - turn.settledMs) };
  if (turn.cursor === null) {
    await endMismatchedJobs(deps, between);
    await endMismatchedCampaigns(deps, between);
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
  const workflows = executions.map((execution) => ({
    ...execution,
    workflowId: lifecycle.names.execution(execution.id),
  }));
  const mismatched = await listMismatched(deps, workflows);
  outbox.wake(await inTransaction(db, (trx) => enqueueExecutionEnds(trx, mismatched)));
  for (const { projectId, id: executionId, status, runStatus } of mismatched)
    log.warn(
      { projectId, executionId, workflow: runStatus, done: `a new run ends as ${status}` },
      'the workflow of an execution had ended in another way than the execution',
    );
}

/**
 * Starts a new workflow for each ended job whose workflow ended in another way than the job, and for each failed job
 * without a workflow. The new workflow ends in the same way as the job.
 */
async function endMismatchedJobs(deps: RecoveryDeps, between: EndedBetween): Promise<void> {
  const { db, lifecycle } = deps;
  for (let after: string | undefined; ; ) {
    const jobs = await listEndedJobs(db, { ...between, after, limit: PAGE });
    const workflows = jobs.map((job) => ({ ...job, workflowId: lifecycle.names.job(job.id) }));
    const mismatched = await listMismatched(deps, workflows);
    reportRestarts(deps, await inTransaction(db, (trx) => enqueueJobs(trx, mismatched)));
    after = jobs.at(-1)?.id;
    if (jobs.length < PAGE) return;
  }
}

/** Starts a new workflow for each ended campaign whose last workflow ended in another way than the campaign. */
async function endMismatchedCampaigns(deps: RecoveryDeps, between: EndedBetween): Promise<void> {
  const { db, lifecycle } = deps;
  for (let after: string | undefined; ; ) {
    const starts = await listEndedCampaignStarts(db, { ...between, after, limit: PAGE });
    const workflows = starts.map((start) => ({
      ...start,
      workflowId: lifecycle.names.campaign(start.campaignId, start.sendNo),
    }));
    const mismatched = await listMismatched(deps, workflows);
    reportRestarts(deps, await inTransaction(db, (trx) => enqueueCampaigns(trx, mismatched)));
    after = starts.at(-1)?.campaignId;
    if (starts.length < PAGE) return;
  }
}

/**
 * Returns the records whose last run ended in another way than the record, and failed records without a run
 * (`runStatus` is null).
 */
async function listMismatched<Row extends { workflowId: string; status: string }>(
  { lifecycle }: RecoveryDeps,
  rows: Row[],
): Promise<(Row & { runStatus: string | null })[]> {
  const last = await lifecycle.runs.findLast(rows.map(({ workflowId }) => workflowId));
  return rows
    .map((row) => ({ ...row, runStatus: last.get(row.workflowId)?.status ?? null }))
    .filter(({ status, runStatus }) => (runStatus === null ? status === 'FAILED' : hasOtherEnd(status, runStatus)));
}

function reportRestarts({ outbox, log }: RecoveryDeps, queued: OutboxRow[]): void {
  outbox.wake(queued);
  for (const { projectId, kind, refId } of queued)
    log.warn(
      { projectId, kind, refId, done: 'started again, so that the run ends with the status of its record' },
      'a workflow had ended in another way than its record',
    );
}

/**
 * Tells whether a run ended in another way than its record. A running workflow does not count here, because
 * `recoverRunningWorkflows` repairs it.
 */
function hasOtherEnd(status: string, runStatus: string): boolean {
  return !isOpenStatus(runStatus) && !MATCHING_STATUSES[status]?.includes(runStatus);
}
