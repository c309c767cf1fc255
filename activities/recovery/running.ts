import { findDeletedRowsOfAnyProject } from '../../db/records/deleted-rows.ts';
import {
  findPendingEndpoints,
  findRunningCampaigns,
  findRunningExecutions,
  findRunningJobs,
  type RunningCampaign,
  type RunningExecution,
} from '../../db/recovery/running-rows.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import { isOpenStatus, type ListedRun } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';
import { reportRecoveryFailure } from './recovery-failure.ts';

/** The number of workflows that Temporal lists at a time. */
const PAGE = 1_000;
const TYPES = ['contactExecution', 'campaignSend', 'bulkJob', 'contactImport', 'webhookDelivery'] as const;

/**
 * Compares each running workflow of the types in `TYPES` with its row in Postgres. If the row has ended, the workflow
 * is ended in the same way. A workflow gets a signal if the row's pause should have ended, because its end has passed
 * or its event has arrived. A workflow also gets a signal if the positions of the workflow and the row differ, because
 * Postgres or Temporal was restored. After the signal, the workflow reads its row and continues from the row's
 * position. If the workflow is ahead of the row, the workflow's next activity advances the row instead
 * (engine/automations/catch-up.ts).
 */
export async function recoverRunningWorkflows(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  const startedBefore = new Date(Date.now() - turn.settledMs);
  let cursor = turn.cursor;
  for (;;) {
    const page = await deps.lifecycle.runs.listRunning({ types: TYPES, startedBefore, cursor, limit: PAGE });
    await repairPage(deps, turn, page.runs);
    cursor = page.next;
    if (cursor === null || !turn.mayContinue(cursor)) return cursor;
  }
}

async function repairPage(deps: RecoveryDeps, { settledMs }: RecoveryTurn, listed: ListedRun[]): Promise<void> {
  const { db } = deps;
  const runs = settledMs === 0 ? await readSteps(deps, listed) : listed;
  const ofType = (...types: string[]) => runs.filter(({ type, rowId }) => types.includes(type) && rowId !== '');
  const getRowIds = (runs: ListedRun[]) => runs.map(({ rowId }) => rowId);
  const [executions, campaigns, jobs, endpoints] = [
    ofType('contactExecution'),
    ofType('campaignSend'),
    ofType('bulkJob', 'contactImport'),
    ofType('webhookDelivery'),
  ];
  if (executions.length > 0) {
    const rows = await findRunningExecutions(db, { ids: getRowIds(executions), settledMs });
    const deleted = await findDeletedRowsOfAnyProject(
      db,
      getRowIds(executions).filter((id) => !rows.has(id)),
    );
    for (const run of executions) {
      const deletedRow = deleted.get(run.rowId);
      const row =
        rows.get(run.rowId) ??
        (deletedRow && {
          ...deletedRow,
          status: deletedRow.status as ExecutionStatus,
          hasEnded: true,
          isSettled: true,
        });
      await repairAndLog(deps, run, () => repairExecutionRun(deps, run, row, settledMs === 0));
    }
  }
  if (campaigns.length > 0) {
    const rows = await findRunningCampaigns(db, { ids: getRowIds(campaigns), settledMs });
    for (const run of campaigns) await repairAndLog(deps, run, () => repairCampaignRun(deps, run, rows.get(run.rowId)));
  }
  if (jobs.length > 0) {
    const rows = await findRunningJobs(db, getRowIds(jobs));
    for (const run of jobs)
      await repairAndLog(deps, run, () => cancelRunOfEndedJob(deps, run, rows.get(run.rowId)?.status));
  }
  if (endpoints.length > 0) {
    const pending = await findPendingEndpoints(db, { ids: getRowIds(endpoints), settledMs });
    for (const run of endpoints)
      await repairAndLog(deps, run, () => wakeEndpointRun(deps, run, pending.get(run.rowId)));
  }
}

/**
 * Reads the current step of each execution from its workflow run. After a restore, Temporal's list of workflows may
 * have no step or an earlier step, because the list is written later than the runs.
 */
async function readSteps({ lifecycle }: RecoveryDeps, runs: ListedRun[]): Promise<ListedRun[]> {
  const executions = runs.filter(({ type }) => type === 'contactExecution');
  const last = await lifecycle.runs.findLast(executions.map(({ workflowId }) => workflowId));
  return runs.map((run) => ({ ...run, stepId: last.get(run.workflowId)?.stepId ?? run.stepId }));
}

/**
 * Repairs one workflow and logs the repair. If the repair fails, records the failure, so that the other workflows are
 * still repaired.
 */
async function repairAndLog(deps: RecoveryDeps, run: ListedRun, repair: () => Promise<string | undefined>) {
  const ids = { projectId: run.projectId, workflowId: run.workflowId, runId: run.runId };
  try {
    const done = await repair();
    if (done !== undefined) deps.log.warn({ ...ids, done }, 'a workflow disagreed with its record');
  } catch (error) {
    await reportRecoveryFailure(deps, ids, error);
  }
}

type ExecutionRow = Pick<RunningExecution, 'status' | 'reason' | 'hasEnded' | 'isSettled'> & Partial<RunningExecution>;

async function repairExecutionRun(
  { lifecycle }: RecoveryDeps,
  run: ListedRun,
  row: ExecutionRow | undefined,
  isRestored: boolean,
): Promise<string | undefined> {
  const { workflowId } = run;
  const signalLook = async () => lifecycle.runs.signal({ workflowId, signal: 'look' });
  if (!row) {
    // The signal makes the workflow read its row. The workflow finds no row, and fails.
    await signalLook();
    return 'no record: signaled to read its record and fail';
  }
  if (!row.isSettled) return undefined;
  const { status, reason, visit } = row;
  if (row.hasEnded) {
    if (status === 'CANCELLED') await lifecycle.runs.cancel({ ...run, reason: reason ?? 'cancelled' });
    else await lifecycle.runs.signal({ workflowId, signal: 'ended', args: [{ status, reason }] });
    return `ended as ${status}`;
  }
  if (status === 'WAITING') {
    // The step of a run is unknown if the run has no step attribute. After a restore, however, a run without this
    // attribute has not yet waited at any step, so it cannot be at the row's step.
    const isKnown = run.stepId !== undefined || isRestored;
    const isElsewhere = isKnown && run.stepId !== row.stepId;
    if (!isElsewhere && !row.isOverdue && !row.isSatisfied) return undefined;
  } else if (await hasRunningActivity({ lifecycle }, run)) return undefined;
  if (row.isSatisfied && visit !== undefined)
    await lifecycle.runs.signal({ workflowId, signal: 'event', args: [{ visit }] });
  await signalLook();
  return 'signaled to read its record again';
}

/** Tells whether the run has a running activity, or has ended in the meantime. */
async function hasRunningActivity({ lifecycle }: Pick<RecoveryDeps, 'lifecycle'>, { workflowId }: ListedRun) {
  const last = (await lifecycle.runs.findLast([workflowId])).get(workflowId);
  return !last || !isOpenStatus(last.status) || last.pendingActivities > 0;
}

async function repairCampaignRun(
  { lifecycle }: RecoveryDeps,
  run: ListedRun,
  row: RunningCampaign | undefined,
): Promise<string | undefined> {
  const isCurrentStart = row !== undefined && run.workflowId === lifecycle.names.campaign(run.rowId, row.sendNo);
  const isOpen = isCurrentStart && ['SCHEDULED', 'SENDING', 'PAUSED'].includes(row.status);
  if (isOpen ? !row.isOverdue : row && !row.isSettled) return undefined;
  // The signal makes the workflow read its row again. The workflow then continues, or ends in the same way as the row.
  await lifecycle.runs.signal({ workflowId: run.workflowId, signal: 'changed' });
  return isOpen ? 'signaled to read its record' : 'signaled to end';
}

/**
 * Cancels the workflow of a job that has ended. The workflow then ends in the same way as the job's row. If the row
 * does not exist, the workflow fails.
 */
async function cancelRunOfEndedJob({ lifecycle }: RecoveryDeps, run: ListedRun, status: string | undefined) {
  if (status === 'QUEUED' || status === 'RUNNING') return undefined;
  await lifecycle.runs.cancel({ ...run, reason: status === 'CANCELLED' ? 'cancelled' : 'recovery' });
  return status === undefined ? 'no record: cancellation requested' : `ended as ${status}`;
}

async function wakeEndpointRun(
  { lifecycle }: RecoveryDeps,
  run: ListedRun,
  pending: { isOverdue: boolean } | undefined,
): Promise<string | undefined> {
  if (pending && !pending.isOverdue) return undefined;
  if (await hasRunningActivity({ lifecycle }, run)) return undefined;
  await lifecycle.runs.signal({ workflowId: run.workflowId, signal: 'wake' });
  return pending ? 'signaled to read which requests are due' : 'signaled to end';
}
