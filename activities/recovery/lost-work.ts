import { finishJob } from '../../db/contacts/jobs.ts';
import {
  enqueueJobs,
  enqueueReleases,
  enqueueRestocks,
  listUnfinishedJobs,
  wakeOverdueEndpoints,
} from '../../db/recovery/lost-work.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ActivityDeps } from '../deps.ts';
import { recoverCampaigns } from './lost-campaigns.ts';
import { recoverExecutions } from './lost-executions.ts';
import { recoverMessages } from './lost-messages.ts';

/** Rounds come every hour; this outlasts a day without a worker. */
const LOOK_BACK_MS = 24 * 3_600_000;
/**
 * Messages are found by a scan of those accepted lately: two hours more than the day for which a refused one is tried.
 */
const MESSAGES_HOURS = 26;

/**
 * Takes up what has a row that says "under way" and no workflow any more, since an operator terminated it or Temporal
 * has forgotten it: deliveries of messages and webhooks are started again. What was terminated otherwise has ended,
 * since whoever did so wanted it to stop: a job is FAILED, a campaign or execution cancelled. What Temporal does not
 * know goes on where it was. May run at any time, and again.
 * @param p.messagesOfHours how far back to look for messages that Temporal has lost; a little more than a day unless
 * given
 */
export async function recoverLostWork(
  deps: Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>,
  p: { messagesOfHours?: number | undefined } = {},
): Promise<void> {
  const { db, lifecycle, log } = deps;
  const messagesSince = new Date(Date.now() - (p.messagesOfHours ?? MESSAGES_HOURS) * 3_600_000);
  const deliveries = await lifecycle.restartTerminated(new Date(Date.now() - LOOK_BACK_MS));
  if (deliveries.length > 0) log.warn({ deliveries: deliveries.length }, 'terminated deliveries were started again');
  const jobs = await recoverJobs(deps);
  const outbox = await inTransaction(db, async (trx) => [
    ...(await enqueueJobs(trx, jobs)),
    ...(await wakeOverdueEndpoints(trx)),
    ...(await enqueueRestocks(trx)),
    ...(await enqueueReleases(trx, messagesSince)),
  ]);
  if (outbox.length > 0)
    log.warn({ jobs: jobs.length, rows: outbox.length }, 'work without a workflow was started again');
  lifecycle.dispatch(outbox);
  await recoverCampaigns(deps);
  await recoverExecutions(deps);
  await recoverMessages(deps, messagesSince);
}

/** Fails the jobs that were terminated; returns those to start again. */
async function recoverJobs({ db, lifecycle, log }: Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>) {
  const lost = [];
  for (const job of await listUnfinishedJobs(db)) {
    const status = await lifecycle.findStatus(lifecycle.names.job(job.id));
    if (status === null) lost.push(job);
    if (status !== 'TERMINATED' && status !== 'TIMED_OUT') continue;
    const failedReason = 'An operator terminated the job.';
    await finishJob(db, { projectId: job.projectId, id: job.id, status: 'FAILED', failedReason });
    log.warn({ projectId: job.projectId, jobId: job.id, status }, 'a job without a workflow has failed');
  }
  return lost;
}
