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
import type { activitiesByQueue } from '../activities/registry.ts';
import type { LoopWatch } from '../compute/loop-watch.ts';
import type { StartedWork } from '../rules/executions/started-work.ts';
import { PERIODIC_SLOTS } from '../rules/periodic-work.ts';
import type { TaskQueue } from '../rules/queues.ts';
import type { SampledLog } from '../rules/sampled-log.ts';
import type { StartedWorkSinks } from '../workflows/report-started.ts';
import { endSinks } from './ends.ts';
import { safeFailures } from './safe-failures.ts';

type ActivityQueue = Exclude<TaskQueue, 'workflows'>;

/**
 * The number of activities of each queue that run at a time in one process. An email or a webhook mostly waits, a
 * campaign chunk works, and a chunk with a send rate waits nearly all the time. Steps are short. Tasks that a process
 * has taken are first come, first served over all tenants, so a process takes few steps and workflow tasks at a time.
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
/** Running activities get this long to finish after a stop; `npm start` gives the whole process 20 s. */
const SHUTDOWN_GRACE = '10 seconds';
/** Afterwards they are cancelled by force, so that a stop always ends. */
const SHUTDOWN_FORCE = '15 seconds';
/**
 * Polls that always wait at Temporal, so that a task goes straight to a worker. With one poll, a task that arrives
 * while the poll is renewed goes through the database and is 40 ms later. Temporal scales the number with the load.
 */
const POLLERS = { type: 'autoscaling', minimum: 4, initial: 4 } as const;
/** A chunk that waits for its send rate, periodic work, and a queue of the earlier release can wait 40 ms. */
const PATIENT_QUEUES: ReadonlySet<ActivityQueue> = new Set<ActivityQueue>(['paced', 'periodic']);
const FEW_POLLERS = { type: 'autoscaling', minimum: 1, initial: 1 } as const;
/**
 * The number of workflows that a process keeps in memory between their tasks. It is enough for the workflows that
 * run, not for the ones that wait. The SDK prefers tasks of kept workflows to all others, whatever their project. When
 * thousands of timers of a project end at once, its kept workflows would delay the executions of all other projects.
 * Each workflow that is not kept costs one replay of a short history.
 */
const MAX_CACHED_WORKFLOWS = 100;
/** A task of a kept workflow that no worker has taken after this time joins the others, where projects take turns. */
const STICKY_MAX_WAIT = '1 second';
/**
 * How often the SDK passes on the cursor of periodic work, which a killed activity leaves to its next attempt. By
 * default it passes on one in 24 seconds, 80 % of the time after which Temporal considers the activity lost.
 */
const CURSOR_EVERY = '2 seconds';

export interface DeploymentVersion {
  deploymentName: string;
  buildId: string;
}

export interface WorkerFleet {
  connection: NativeConnection;
  namespace: string;
  /** Names the queue of a kind of work. */
  taskQueue: (queue: TaskQueue) => string;
  identity: string;
  /** True for queues of an earlier name, which will soon be empty: fewer polls. */
  leaving?: boolean;
  activities: ReturnType<typeof activitiesByQueue>;
  workflowBundle: WorkflowBundleOption | undefined;
  /** The queues that this process serves. */
  queues: ReadonlySet<TaskQueue>;
  /** Undefined when workers are not versioned. */
  deployment: DeploymentVersion | undefined;
  /** Names the activity that blocks the event loop. */
  loop: Pick<LoopWatch, 'as'>;
  /** Called for each start, signal and cancel that has reached its workflow. */
  noteStarted: (begun: StartedWork) => void;
  /** Receives the ends of workflows. */
  ends: SampledLog;
}

/**
 * Creates a Temporal worker for each task queue that this process serves, on one connection, so a full queue does not
 * delay the others. The worker of the workflows also runs steps, because only then can Temporal return a step with the
 * response to the workflow's task. A process without workflows has a worker for steps alone.
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
    ...versionOf(p.deployment),
  };
  const interceptors: WorkerInterceptors = {
    activity: [() => ({ inbound: safeFailures() }), (context) => ({ inbound: activitiesFor(p.loop, context) })],
  };
  const activitiesOf = (queue: ActivityQueue) => ({
    activities: p.activities[queue],
    maxConcurrentActivityTaskExecutions: CONCURRENCY[queue],
    activityTaskPollerBehavior: p.leaving || PATIENT_QUEUES.has(queue) ? FEW_POLLERS : POLLERS,
    ...(queue === 'periodic' && { maxHeartbeatThrottleInterval: CURSOR_EVERY }),
  });
  const workflows: WorkerOptions[] = p.queues.has('workflows')
    ? [
        {
          ...shared,
          taskQueue: p.taskQueue('workflows'),
          ...activitiesOf('steps'),
          ...workflowSource(p.workflowBundle, interceptors),
          sinks: { ...startedWorkSinks(p.noteStarted), ...endSinks(p.ends) },
          maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
          maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
          stickyQueueScheduleToStartTimeout: STICKY_MAX_WAIT,
          workflowTaskPollerBehavior: p.leaving ? FEW_POLLERS : POLLERS,
        },
      ]
    : [];
  const others = (Object.keys(CONCURRENCY) as ActivityQueue[])
    .filter((queue) => p.queues.has(queue) && (queue !== 'steps' || !p.queues.has('workflows')))
    .map((queue) => ({ ...shared, taskQueue: p.taskQueue(queue), ...activitiesOf(queue), interceptors }));
  return Promise.all([...workflows, ...others].map((options) => Worker.create(options)));
}

/**
 * Registers the worker's build as a version of the deployment. Runs of workflows without a behavior of their own move
 * to the current version, as their `patched` branches allow (workflows/registry.ts pins the others).
 */
function versionOf(version: DeploymentVersion | undefined): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!version) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

/** Names each activity in the reports about a blocked event loop. */
function activitiesFor(loop: WorkerFleet['loop'], { info }: Context): ActivityInboundCallsInterceptor {
  return { execute: (input, next) => loop.as(info.activityType, () => next(input)) };
}

/** Without a prebuilt bundle the workflows are bundled from source, which takes 2 to 3 seconds. */
function workflowSource(
  bundle: WorkflowBundleOption | undefined,
  interceptors: WorkerInterceptors,
): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'> {
  if (bundle) return { workflowBundle: bundle, interceptors };
  return {
    workflowsPath: new URL('../workflows/registry.ts', import.meta.url).pathname,
    interceptors: {
      ...interceptors,
      workflowModules: [new URL('../workflows/interceptors.ts', import.meta.url).pathname],
    },
  };
}

/** Reports the starts of workflows. A replay repeats a workflow that has started already, so it reports none. */
function startedWorkSinks(report: (begun: StartedWork) => void): InjectedSinks<StartedWorkSinks> {
  return { outbox: { noteStarted: { fn: (_workflow, begun) => report(begun), callDuringReplay: false } } };
}
