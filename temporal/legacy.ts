import { ScheduleNotFoundError } from '@temporalio/client';
import { TASK_QUEUES } from '../rules/queues.ts';
import type { Target } from './names.ts';

/** The schedules of releases before installations had names, by id, with the workflow that each started. */
const LEGACY_SCHEDULES = [
  { id: 'domain-checks', workflow: 'domainChecks' },
  { id: 'segment-recompute', workflow: 'segmentRecompute' },
  { id: 'housekeeping', workflow: 'housekeeping' },
];

/** Counts the open workflows on the queue of the earlier release. */
export async function countLegacyWorkflows({ client }: Pick<Target, 'client'>): Promise<number> {
  const query = `TaskQueue = '${TASK_QUEUES.workflows}' AND ExecutionStatus = 'Running'`;
  return (await client.workflow.count(query)).count;
}

/**
 * Deletes the schedules of the earlier release, which schedules with this installation's name have replaced. A schedule
 * of the same id that starts another workflow belongs to another program and stays.
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
