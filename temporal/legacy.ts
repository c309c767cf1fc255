import { ScheduleNotFoundError } from '@temporalio/client';
import { TASK_QUEUES } from '../rules/queues.ts';
import type { Target } from './names.ts';

/**
 * The legacy schedules, whose ids do not contain the installation's short id. Each entry has the id of a schedule and
 * the workflow that it started.
 */
const LEGACY_SCHEDULES = [
  { id: 'domain-checks', workflow: 'domainChecks' },
  { id: 'segment-recompute', workflow: 'segmentRecompute' },
  { id: 'housekeeping', workflow: 'housekeeping' },
];

/** Counts the open workflows on the legacy task queue. */
export async function countLegacyWorkflows({ client }: Pick<Target, 'client'>): Promise<number> {
  const query = `TaskQueue = '${TASK_QUEUES.workflows}' AND ExecutionStatus = 'Running'`;
  return (await client.workflow.count(query)).count;
}

/**
 * Deletes the legacy schedules. Schedules whose ids contain this installation's short id have replaced them. If a
 * schedule with one of these ids starts another workflow, the schedule belongs to another program and is not deleted.
 */
export async function deleteLegacySchedules({ client }: Pick<Target, 'client'>): Promise<void> {
  for (const { id, workflow } of LEGACY_SCHEDULES) {
    const schedule = client.schedule.getHandle(id);
    try {
      const { action } = await schedule.describe();
      if (action.workflowType === workflow && action.taskQueue === TASK_QUEUES.workflows) await schedule.delete();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }
}
