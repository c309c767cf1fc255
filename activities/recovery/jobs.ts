import { finishJob } from '../../db/contacts/jobs.ts';
import { enqueueJobs, listUnfinishedJobs, type UnfinishedJob } from '../../db/recovery/lost-work.ts';
import { inTransaction } from '../../db/transaction.ts';
import { ROW_MISSING } from '../../rules/row-missing.ts';
import { noteNotRecovered } from './not-recovered.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';

const PAGE = 500;

/**
 * Restarts the workflow of each unfinished job, or ends the job: CANCELLED if an operator ended the workflow, FAILED if
 * the workflow failed. A job that Temporal does not know, or lists as Completed, continues at its cursor.
 */
export async function recoverJobs(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const { lifecycle } = deps;
  let after = turn.cursor;
  for (;;) {
    const page = await listUnfinishedJobs(deps.db, { after, settledMs: turn.settledMs, limit: PAGE });
    const last = await lifecycle.runs.findLast(page.map(({ id }) => lifecycle.names.job(id)));
    for (const job of page) {
      const { projectId, id: jobId } = job;
      await recover(deps, job, last.get(lifecycle.names.job(jobId))).catch((error: unknown) =>
        noteNotRecovered(deps, { projectId, jobId }, error),
      );
    }
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE || after === null) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

async function recover(
  { db, lifecycle, outbox, log }: RecoveryDeps,
  job: UnfinishedJob,
  run: { status: string; runId: string } | undefined,
): Promise<void> {
  const { projectId, id } = job;
  const was = run?.status ?? null;
  if (was === 'RUNNING' || was === 'PAUSED') return;
  const loudly = (done: string) =>
    log.warn({ projectId, jobId: id, workflow: was, done }, 'a job had no running workflow');
  if (was === 'TERMINATED' || was === 'CANCELLED') {
    const failedReason = `An operator ${was === 'CANCELLED' ? 'cancelled' : 'terminated'} the job.`;
    await finishJob(db, { projectId, id, status: 'CANCELLED', failedReason });
    return loudly('ended as CANCELLED');
  }
  if (run && (was === 'FAILED' || was === 'TIMED_OUT')) {
    const { failureType } = await lifecycle.runs.readRunHistory({
      workflowId: lifecycle.names.job(id),
      runId: run.runId,
    });
    if (failureType !== ROW_MISSING) {
      await finishJob(db, { projectId, id, status: 'FAILED', failedReason: 'The job failed in Temporal.' });
      return loudly('ended as FAILED');
    }
  }
  outbox.wake(await inTransaction(db, (trx) => enqueueJobs(trx, [job])));
  loudly('restarted where it stopped');
}
