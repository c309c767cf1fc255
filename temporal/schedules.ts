import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Target } from './names.ts';
import { searchAttributes } from './search-attributes.ts';

/** Work that comes round by itself. A round that is still running when the next is due makes that one be skipped. */
const SCHEDULES = [
  { name: 'domain-checks', workflow: 'domainChecks', every: '5 minutes' },
  { name: 'segment-recompute', workflow: 'segmentRecompute', every: '5 minutes' },
  { name: 'housekeeping', workflow: 'housekeeping', every: '1 hour' },
] as const;

/**
 * Creates the schedules that are missing. Every worker calls it at its start; the first one wins, the others find them
 * there.
 */
export async function ensureSchedules({ client, names }: Target): Promise<void> {
  for (const schedule of SCHEDULES) {
    try {
      await client.schedule.create({
        scheduleId: names.schedule(schedule.name),
        typedSearchAttributes: searchAttributes(names, {}),
        spec: { intervals: [{ every: schedule.every }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10 minutes' },
        action: {
          type: 'startWorkflow',
          workflowType: schedule.workflow,
          workflowId: names.schedule(schedule.name),
          taskQueue: names.taskQueue('workflows'),
          typedSearchAttributes: searchAttributes(names, {}),
          args: [],
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}
