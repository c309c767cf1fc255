import {
  type EndedBetween,
  type EndedExecution,
  enqueueEnds,
  findEndedExecutions,
  listEndedBadly,
  listEndedJobs,
  listEndedStarts,
} from '../../db/recovery/ended-rows.ts';
import { enqueueJobs } from '../../db/recovery/lost-work.ts';
import { inTransaction } from '../../db/transaction.ts';
import { enqueueCampaigns } from '../../engine/campaigns/lost-campaigns.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

/**
 * The age up to which ended records are compared. A record and a run that have both ended do not change, so a few
 * rounds are enough.
 */
const LOOK_BACK_MS = 2 * 3_600_000;
const PAGE = 500;
/**
 * The maximum number of ended jobs and campaigns per round. Two hours rarely have more; a later round compares the
 * rest.
 */
const LISTED_MAX = 2_000;

/** For each status of a record, the statuses of a Temporal run that match it. A terminated run counts as cancelled. */
const SAME: Record<string, readonly string[]> = {
  COMPLETED: ['COMPLETED'],
  EXITED: ['COMPLETED'],
  SENT: ['COMPLETED'],
  FAILED: ['FAILED', 'TIMED_OUT'],
  CANCELLED: ['CANCELLED', 'TERMINATED'],
};

/**
 * Compares records and runs that have both ended. The end of a run cannot be changed in Temporal. If the two ends
 * differ, this starts a new run, which only ends in the same way as its record.
 */
export async function recoverEnded(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const between = { since: new Date(Date.now() - LOOK_BACK_MS), until: new Date(Date.now() - turn.settledMs) };
  if (turn.cursor === null) {
    await recoverOthers(deps, between);
    for (let cursor: string | null = null; ; ) {
      const page = await deps.lifecycle.runs.listEndedBadly({ since: between.since, cursor, limit: PAGE });
      const ids = page.runs.map(({ rowId }) => rowId);
      await restartMismatched(deps, await findEndedExecutions(deps.db, { ids, until: between.until }));
      cursor = page.next;
      if (cursor === null) break;
    }
  }
  let after = turn.cursor ?? undefined;
  for (;;) {
    const page = await listEndedBadly(deps.db, { ...between, after, limit: PAGE });
    await restartMismatched(deps, page);
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

/** Starts a run for each execution whose last run ended in another way, and for each failed execution without a run. */
async function restartMismatched(deps: RecoveryDeps, executions: EndedExecution[]): Promise<void> {
  const { db, lifecycle, outbox, log } = deps;
  const idOf = ({ id }: EndedExecution) => lifecycle.names.execution(id);
  const last = await lifecycle.runs.findLast(executions.map(idOf));
  const wrong = executions.filter((execution) => {
    const was = last.get(idOf(execution))?.status;
    return was === undefined ? execution.status === 'FAILED' : differs(execution.status, was);
  });
  outbox.wake(await inTransaction(db, (trx) => enqueueEnds(trx, wrong)));
  for (const execution of wrong) {
    const { projectId, id: executionId, status } = execution;
    log.warn(
      {
        projectId,
        executionId,
        workflow: last.get(idOf(execution))?.status ?? null,
        done: `a new run ends as ${status}`,
      },
      'an execution had ended in another way',
    );
  }
}

/** Corrects jobs and campaigns. Their workflows read the record first and end in the same way. */
async function recoverOthers({ db, lifecycle, outbox, log }: RecoveryDeps, between: EndedBetween): Promise<void> {
  const jobs = await listEndedJobs(db, { ...between, limit: LISTED_MAX });
  const starts = await listEndedStarts(db, { ...between, limit: LISTED_MAX });
  const jobId = ({ id }: { id: string }) => lifecycle.names.job(id);
  const startId = (start: (typeof starts)[number]) => lifecycle.names.campaign(start.campaignId, start.sendNo);
  const last = await lifecycle.runs.findLast([...jobs.map(jobId), ...starts.map(startId)]);
  const isWrong = (workflowId: string, status: string) => {
    const was = last.get(workflowId)?.status;
    return was === undefined ? status === 'FAILED' : differs(status, was);
  };
  const wrongJobs = jobs.filter((job) => isWrong(jobId(job), job.status));
  const wrongStarts = starts.filter((start) => isWrong(startId(start), start.status));
  const queued: OutboxRow[] = await inTransaction(db, async (trx) => [
    ...(await enqueueJobs(trx, wrongJobs)),
    ...(await enqueueCampaigns(trx, wrongStarts)),
  ]);
  outbox.wake(queued);
  for (const { projectId, kind, refId } of queued)
    log.warn({ projectId, kind, refId, done: 'a new run ends as its record' }, 'a record had ended in another way');
}

/** Tells whether a run ended differently than its record. `recoverRunning` repairs running workflows. */
function differs(status: string, was: string): boolean {
  return was !== 'RUNNING' && was !== 'PAUSED' && !SAME[status]?.includes(was);
}
