import type { Context } from '@temporalio/activity';
import {
  type ActivityInboundCallsInterceptor,
  type InjectedSinks,
  type NativeConnection,
  Worker,
  type WorkerInterceptors,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { createActivitiesByQueue } from '../activities/registry.ts';
import type { LoopWatch } from '../compute/loop-watch.ts';
import type { StartedWork } from '../rules/executions/started-work.ts';
import { PERIODIC_SLOTS } from '../rules/periodic-work.ts';
import type { TaskQueue } from '../rules/queues.ts';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { StartedWorkSinks } from '../workflows/report-started.ts';
import { createEndSinks } from './ends.ts';
import { createSafeFailuresInterceptor } from './safe-failures.ts';

type ActivityQueue = Exclude<TaskQueue, 'workflows'>;

/**
 * For each queue, the number of activities that one process runs at the same time. An activity for emails or webhooks
 * mostly waits for a server. A campaign chunk uses the CPU. A chunk with a send rate waits nearly all the time. The
 * limit for steps is low, because a process runs its tasks in the order of arrival and does not alternate between
 * tenants.
 */
const CONCURRENCY: Record<ActivityQueue, number> = {
  steps: 10,
  transactional: 20,
  automation: 40,
  webhooks: 100,
  bulk: 4,
  periodic: PERIODIC_SLOTS,
  paced: 200,
};
const WORKFLOW_TASKS = 10;
/**
 * The longest time that workflow code may take for one workflow task. The SDK's default is 5 s, and a busy machine can
 * need more, for example to replay a long history. After the limit, the SDK interrupts the code. If Node.js interrupts
 * a promise callback, it breaks the thread that runs all workflows (nodejs/node#38503): the process then crashes, or it
 * keeps taking workflow tasks and completes none. The SDK's types do not contain this option.
 */
const WORKFLOW_CODE_LIMIT = { isolateExecutionTimeout: '10 minutes' };
/** When the process stops, running activities have this long to finish. `npm start` kills a worker after 11 s. */
const SHUTDOWN_GRACE = '10 seconds';
/** When the process stops, activities that still run after this time are abandoned, so that the stop always ends. */
const SHUTDOWN_FORCE = '15 seconds';
/**
 * The number of concurrent polls of a queue. A poll is a request that waits at Temporal for the next task. While a poll
 * is waiting, Temporal can pass a new task directly to the worker. With only one poll, a task that arrives before the
 * worker polls again goes through Temporal's database and takes 40 ms longer. The SDK adapts the number of polls to the
 * load.
 */
const POLLERS = { type: 'autoscaling', minimum: 4, initial: 4 } as const;
/**
 * Queues for which a delay of 40 ms does not matter: chunks with a send rate, and periodic work. These queues, and the
 * legacy queues (`isLegacy`), start with a single poll.
 */
const PATIENT_QUEUES: ReadonlySet<ActivityQueue> = new Set<ActivityQueue>(['paced', 'periodic']);
const FEW_POLLERS = { type: 'autoscaling', minimum: 1, initial: 1 } as const;
/**
 * The polls for steps in a process that also serves workflows. Such a process gets nearly all steps in the responses to
 * its workflow tasks, and a step comes in a response only if a slot is free. A poll occupies a slot while it waits.
 * Autoscaled polls often occupied all ten slots. Every step then took a round trip through Temporal's queue, and an
 * execution cost 1.7 instead of 1.5 times the CPU time of a workflow without our code.
 */
const STEP_POLLERS = { type: 'simple-maximum', maximum: 2 } as const;
/**
 * Each process polls the queue `bulk` with one poll. Temporal then distributes the chunks of a campaign evenly among
 * the processes. With four polls, the process that polled first got up to four chunks, and other processes got none.
 */
const ONE_POLLER = { type: 'simple-maximum', maximum: 1 } as const;
/**
 * The number of workflows that a process keeps in memory between their tasks. This number is enough for workflows with
 * running activities, but not for the many workflows that wait for a timer. The SDK prefers tasks of kept workflows to
 * other tasks. If more workflows were kept, a project with thousands of timers that end at the same time would delay
 * the executions of all other projects. A workflow that is not kept costs one replay of a short history.
 */
const MAX_CACHED_WORKFLOWS = 100;
/**
 * Temporal first offers the next task of a kept workflow to the worker that keeps it. If that worker does not take the
 * task within this time, the task moves to the common queue, where projects take turns.
 */
const STICKY_MAX_WAIT = '1 second';
/**
 * The SDK sends heartbeats of activities to Temporal at most at this interval. A heartbeat of periodic work contains
 * the cursor at which the next attempt continues if the process is killed. With the SDK's default interval of 24
 * seconds (80 % of the heartbeat timeout), an attempt would repeat more work.
 */
const CURSOR_INTERVAL = '2 seconds';

export interface DeploymentVersion {
  deploymentName: string;
  buildId: string;
}

export interface WorkerFleet {
  connection: NativeConnection;
  namespace: string;
  /** Returns the name that a task queue has in Temporal. */
  taskQueue: (queue: TaskQueue) => string;
  identity: string;
  /** True for the queues of an earlier release. These queues will soon be empty, so a worker polls them less. */
  isLegacy?: boolean;
  activities: ReturnType<typeof createActivitiesByQueue>;
  workflowBundle: WorkflowBundleOption | undefined;
  /** The queues that this process serves. */
  queues: ReadonlySet<TaskQueue>;
  /** The version of the deployment. Undefined when workers are not versioned. */
  deployment: DeploymentVersion | undefined;
  /** Records which activity blocks the event loop. */
  loop: Pick<LoopWatch, 'runAs'>;
  /** Called for each start, signal and cancel from the outbox that has reached its workflow. */
  noteStarted: (started: StartedWork) => void;
  /** The log of the ends of executions, campaigns and jobs. */
  endLog: SampledLog;
}

/**
 * Creates a Temporal worker for each task queue that this process serves, so that a full queue does not delay the other
 * queues. The workers share one connection. The worker for workflows also runs the activities of steps. Temporal can
 * then return a step in its response to the workflow task that scheduled the step. A process that serves no workflows
 * has a separate worker for steps.
 */
export async function createTemporalWorkers(p: WorkerFleet): Promise<Worker[]> {
  const shared: Pick<
    WorkerOptions,
    'connection' | 'namespace' | 'identity' | 'shutdownGraceTime' | 'shutdownForceTime' | 'workerDeploymentOptions'
  > = {
    connection: p.connection,
    namespace: p.namespace,
    identity: p.identity,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    ...toVersionOptions(p.deployment),
  };
  const interceptors: WorkerInterceptors = {
    activity: [
      () => ({ inbound: createSafeFailuresInterceptor() }),
      (context) => ({ inbound: createLoopWatchInterceptor(p.loop, context) }),
    ],
  };
  const toActivityOptions = (queue: ActivityQueue) => ({
    activities: p.activities[queue],
    maxConcurrentActivityTaskExecutions: CONCURRENCY[queue],
    activityTaskPollerBehavior: choosePollers(queue, p.isLegacy),
    ...(queue === 'periodic' && { maxHeartbeatThrottleInterval: CURSOR_INTERVAL }),
  });
  const workflowWorkers: WorkerOptions[] = p.queues.has('workflows')
    ? [
        {
          ...shared,
          taskQueue: p.taskQueue('workflows'),
          ...toActivityOptions('steps'),
          activityTaskPollerBehavior: STEP_POLLERS,
          ...getWorkflowCode(p.workflowBundle, interceptors),
          sinks: { ...createStartedWorkSinks(p.noteStarted), ...createEndSinks(p.endLog) },
          maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
          maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
          stickyQueueScheduleToStartTimeout: STICKY_MAX_WAIT,
          ...WORKFLOW_CODE_LIMIT,
          workflowTaskPollerBehavior: p.isLegacy ? FEW_POLLERS : POLLERS,
        },
      ]
    : [];
  const activityWorkers = (Object.keys(CONCURRENCY) as ActivityQueue[])
    .filter((queue) => p.queues.has(queue) && (queue !== 'steps' || !p.queues.has('workflows')))
    .map((queue) => ({ ...shared, taskQueue: p.taskQueue(queue), ...toActivityOptions(queue), interceptors }));
  return Promise.all([...workflowWorkers, ...activityWorkers].map((options) => Worker.create(options)));
}

function choosePollers(queue: ActivityQueue, isLegacy = false): WorkerOptions['activityTaskPollerBehavior'] {
  if (queue === 'bulk') return ONE_POLLER;
  return isLegacy || PATIENT_QUEUES.has(queue) ? FEW_POLLERS : POLLERS;
}

/**
 * Returns the options that register this build as a version of the deployment. By default, running workflows move to
 * the current version, which their `patched` branches make possible. Workflows that workflows/registry.ts pins stay
 * with the version that started them.
 */
function toVersionOptions(version: DeploymentVersion | undefined): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!version) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

/**
 * Creates an interceptor that marks the running activity. If the activity blocks the event loop, the log and the metric
 * then contain the activity's type.
 */
function createLoopWatchInterceptor(loop: WorkerFleet['loop'], { info }: Context): ActivityInboundCallsInterceptor {
  return { execute: (input, next) => loop.runAs(info.activityType, () => next(input)) };
}

/**
 * Returns the code of the workflows: the prebuilt bundle, or their source files, which the SDK bundles in 2 to 3
 * seconds.
 */
function getWorkflowCode(
  bundle: WorkflowBundleOption | undefined,
  interceptors: WorkerInterceptors,
): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'bundlerOptions' | 'interceptors'> {
  if (bundle) return { workflowBundle: bundle, interceptors };
  const workflowsPath = new URL('../workflows/registry.ts', import.meta.url).pathname;
  const workflowModules = [new URL('../workflows/interceptors.ts', import.meta.url).pathname];
  return {
    workflowsPath,
    bundlerOptions: { preloadModules: [workflowsPath, ...workflowModules] },
    interceptors: { ...interceptors, workflowModules },
  };
}

/**
 * Creates the function (in Temporal's terms, a sink) with which a workflow reports to this worker that its work has
 * started. The SDK does not call the function during a replay, because the workflow has reported its start before.
 */
function createStartedWorkSinks(report: (started: StartedWork) => void): InjectedSinks<StartedWorkSinks> {
  return { outbox: { noteStarted: { fn: (_workflow, started) => report(started), callDuringReplay: false } } };
}
