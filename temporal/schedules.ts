import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { PERIODIC_KINDS, PERIODIC_WORK, type PeriodicKind } from '../rules/periodic-work.ts';
import type { Target } from './names.ts';
import { toSearchAttributes } from './search-attributes.ts';

/**
 * The workflow of each kind of periodic work. If a round is still running when the next round is due, Temporal skips
 * the next round.
 */
const ROUNDS: Record<PeriodicKind, string> = {
  recovery: 'recoveryRound',
  pruning: 'pruningRound',
  statistics: 'statisticsRound',
  segments: 'segmentsRound',
  domains: 'domainsRound',
};
const SCHEDULES = PERIODIC_KINDS.map((kind) => ({
  name: kind,
  workflow: ROUNDS[kind],
  every: `${PERIODIC_WORK[kind].everyMinutes} minutes` as const,
}));

/**
 * Creates the schedules that do not exist. Every worker calls this function when it starts; the first worker creates
 * the schedules.
 */
export async function ensureSchedules({ client, names }: Target): Promise<void> {
  for (const schedule of SCHEDULES) {
    try {
      await client.schedule.create({
        scheduleId: names.schedule(schedule.name),
        typedSearchAttributes: toSearchAttributes(names, {}),
        spec: { intervals: [{ every: schedule.every }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10 minutes' },
        action: {
          type: 'startWorkflow',
          workflowType: schedule.workflow,
          workflowId: names.schedule(schedule.name),
          taskQueue: names.taskQueue('workflows'),
          typedSearchAttributes: toSearchAttributes(names, {}),
          args: [],
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}
