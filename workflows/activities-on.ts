import {
  type ActivityFunctionWithOptions,
  type ActivityInterfaceFor,
  type ActivityOptions,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { type TaskQueue, taskQueueBeside } from '../rules/queues.ts';

/**
 * Proxies activities on a queue of the workflow's own installation. The name of the queue is known only when a workflow
 * runs, while proxies are created when the module loads, so each call looks it up.
 */
export function activitiesOn<Activities>(
  queue: TaskQueue,
  options: Omit<ActivityOptions, 'taskQueue'>,
): ActivityInterfaceFor<Activities> {
  const activities = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>(options);
  const onQueue = (type: string): ActivityFunctionWithOptions<(...args: unknown[]) => Promise<unknown>> => {
    const execute = (overrides: ActivityOptions, args: unknown[]) => {
      const taskQueue = taskQueueBeside(workflowInfo().taskQueue, queue);
      const activity = activities[type] as ActivityFunctionWithOptions<(...args: unknown[]) => Promise<unknown>>;
      return activity.executeWithOptions({ ...overrides, taskQueue }, args);
    };
    return Object.assign((...args: unknown[]) => execute({}, args), { executeWithOptions: execute });
  };
  return new Proxy({} as ActivityInterfaceFor<Activities>, { get: (_target, type) => onQueue(String(type)) });
}
