import { finishJob } from '../../db/contacts/jobs.ts';
import { enqueueJobs, listUnfinishedJobs, type UnfinishedJob } from '../../db/recovery/lost-work.ts';
import { inTransaction } from '../../db/transaction.ts';
import { ROW_MISSING } from '../../rules/row-missing.ts';
import { isOpenStatus } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';
import { reportRecoveryFailure } from './recovery-failure.ts';

const PAGE = 500;

/**
 * Repairs each unfinished job that has no running workflow. If an operator cancelled or terminated the workflow in
 * Temporal, the job becomes CANCELLED. If the workflow failed or timed out, the job becomes FAILED. In all other cases,
 * a new workflow continues at the job's cursor: Temporal does not know the workflow, the workflow completed, or the
 * workflow failed because it did not find the job's row in Postgres.
 */
export async function recoverJobs(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const { lifecycle } = deps;
  let after = turn.cursor;
  for (;;) {
    const page = await listUnfinishedJobs(deps.db, { after, settledMs: turn.settledMs, limit: PAGE });
    const last = await lifecycle.runs.findLast(page.map(({ id }) => lifecycle.names.job(id)));
    for (const job of page) {
      const { projectId, id: jobId } = job;
      await recoverUnfinishedJob(deps, job, last.get(lifecycle.names.job(jobId))).catch((error: unknown) =>
        reportRecoveryFailure(deps, { projectId, jobId }, error),
      );
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE || after === null) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

async function recoverUnfinishedJob(
  { db, lifecycle, outbox, log }: RecoveryDeps,
  job: UnfinishedJob,
  run: { status: string; runId: string } | undefined,
): Promise<void> {
  const { projectId, id } = job;
  const runStatus = run?.status ?? null;
  if (isOpenStatus(runStatus)) return;
  const logRepair = (done: string) =>
    log.warn({ projectId, jobId: id, workflow: runStatus, done }, 'a job had no running workflow');
  if (runStatus === 'TERMINATED' || runStatus === 'CANCELLED') {
    const failedReason = `An operator ${runStatus === 'CANCELLED' ? 'cancelled' : 'terminated'} the job.`;
    await finishJob(db, { projectId, id, status: 'CANCELLED', failedReason });
    return logRepair('ended as CANCELLED');
  }
  if (run && (runStatus === 'FAILED' || runStatus === 'TIMED_OUT')) {
    const { failureType } = await lifecycle.runs.readRunHistory({
      workflowId: lifecycle.names.job(id),
      runId: run.runId,
    });
    if (failureType !== ROW_MISSING) {
      await finishJob(db, { projectId, id, status: 'FAILED', failedReason: 'The job failed in Temporal.' });
      return logRepair('ended as FAILED');
    }
  }
  outbox.wake(await inTransaction(db, (trx) => enqueueJobs(trx, [job])));
  logRepair('restarted at its cursor');
}
