import {
  type ActivityFunctionWithOptions,
  type ActivityInterfaceFor,
  type ActivityOptions,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { type TaskQueue, toSiblingQueueName } from '../rules/queues.ts';

/**
 * Returns functions that schedule activities on a task queue of the workflow's installation. The functions are created
 * when the module loads, but the name of the queue is known only while a workflow runs. Each call therefore determines
 * the name.
 */
export function activitiesOn<Activities>(
  queue: TaskQueue,
  options: Omit<ActivityOptions, 'taskQueue'>,
): ActivityInterfaceFor<Activities> {
  const activities = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>(options);
  const onQueue = (type: string): ActivityFunctionWithOptions<(...args: unknown[]) => Promise<unknown>> => {
    const execute = (overrides: ActivityOptions, args: unknown[]) => {
      const taskQueue = toSiblingQueueName(workflowInfo().taskQueue, queue);
      const activity = activities[type] as ActivityFunctionWithOptions<(...args: unknown[]) => Promise<unknown>>;
      return activity.executeWithOptions({ ...overrides, taskQueue }, args);
    };
    return Object.assign((...args: unknown[]) => execute({}, args), { executeWithOptions: execute });
  };
  return new Proxy({} as ActivityInterfaceFor<Activities>, { get: (_target, type) => onQueue(String(type)) });
}
