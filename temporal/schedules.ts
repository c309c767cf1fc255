import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { TASK_QUEUES } from '../rules/queues.ts';

/** Work that comes round by itself. A round that is still running when the next is due makes that one be skipped. */
const SCHEDULES = [
  { id: 'domain-checks', workflow: 'domainChecks', every: '5 minutes' },
  { id: 'segment-recompute', workflow: 'segmentRecompute', every: '5 minutes' },
  { id: 'housekeeping', workflow: 'housekeeping', every: '1 hour' },
] as const;

/**
 * Creates the schedules that are missing. Every worker calls it at its start; the first one wins, the others find them
 * there.
 */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const schedule of SCHEDULES) {
    try {
      await client.schedule.create({
        scheduleId: schedule.id,
        spec: { intervals: [{ every: schedule.every }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10 minutes' },
        action: {
          type: 'startWorkflow',
          workflowType: schedule.workflow,
          workflowId: schedule.id,
          taskQueue: TASK_QUEUES.workflows,
          args: [],
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}
