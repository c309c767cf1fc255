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
import { createEndSinks } from './ends.ts';
import { safeFailures } from './safe-failures.ts';

type ActivityQueue = Exclude<TaskQueue, 'workflows'>;

/**
 * The number of activities of each queue that run at a time in one process. An email or a webhook mostly waits, a
 * campaign chunk uses the CPU, and a chunk with a send rate waits nearly all the time. Steps are short. A process works
 * on the tasks that it has taken in their order, whatever their tenant, so it takes few steps and workflow tasks at a
 * time.
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
/** Activities that still run this long after a stop are cancelled by force, so that every stop ends. */
const SHUTDOWN_FORCE = '15 seconds';
/**
 * The number of polls of a queue. Several polls wait at Temporal, so that a task goes directly to a worker. With only
 * one poll, a task that arrives while the poll is renewed goes through the database and takes 40 ms longer. Temporal
 * scales the number with the load.
 */
const POLLERS = { type: 'autoscaling', minimum: 4, initial: 4 } as const;
/**
 * Queues with a single poll, for which 40 ms do not matter: chunks with a send rate, periodic work, and queues of the
 * earlier release.
 */
const PATIENT_QUEUES: ReadonlySet<ActivityQueue> = new Set<ActivityQueue>(['paced', 'periodic']);
const FEW_POLLERS = { type: 'autoscaling', minimum: 1, initial: 1 } as const;
/**
 * With one poll of each process, Temporal gives the chunks of a campaign to processes in turn. With four, the process
 * whose polls came first got up to four chunks, and others got no chunk.
 */
const ONE_POLLER = { type: 'simple-maximum', maximum: 1 } as const;
/**
 * The number of workflows that a process keeps in memory between their tasks. It is enough for workflows with running
 * activities, but not for waiting workflows. The SDK prefers tasks of kept workflows to other tasks. If more were kept,
 * a project with thousands of timers that end at once would delay the executions of all other projects. Each workflow that is not kept costs one replay of a short history.
 */
const MAX_CACHED_WORKFLOWS = 100;
/**
 * If the worker that keeps a workflow does not take the workflow's next task within this time, the task joins the
 * common queue, where projects take turns.
 */
const STICKY_MAX_WAIT = '1 second';
/**
 * The interval at which the SDK sends heartbeats to Temporal. A heartbeat of periodic work has the cursor at which the
 * next attempt continues after a kill. The SDK's default is 24 seconds, which is 80 % of the heartbeat timeout.
 */
const CURSOR_EVERY = '2 seconds';

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
  /** True for the queues of an earlier release. Those queues will soon be empty, so each gets fewer polls. */
  leaving?: boolean;
  activities: ReturnType<typeof activitiesByQueue>;
  workflowBundle: WorkflowBundleOption | undefined;
  /** The queues that this process serves. */
  queues: ReadonlySet<TaskQueue>;
  /** Undefined when workers are not versioned. */
  deployment: DeploymentVersion | undefined;
  /** Records which activity blocks the event loop. */
  loop: Pick<LoopWatch, 'as'>;
  /** Called for each start, signal and cancel that has reached its workflow. */
  noteStarted: (begun: StartedWork) => void;
  /** The log that records the end of each workflow. */
  ends: SampledLog;
}

/**
 * Creates a Temporal worker for each task queue that this process serves, so that a full queue does not delay the
 * others. They share one connection. The worker for workflows also runs steps, because Temporal can only then return a
 * step with the response to the workflow's task. A process without workflows has a worker for steps only.
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
    activityTaskPollerBehavior: pollersOf(queue, p.leaving),
    ...(queue === 'periodic' && { maxHeartbeatThrottleInterval: CURSOR_EVERY }),
  });
  const workflows: WorkerOptions[] = p.queues.has('workflows')
    ? [
        {
          ...shared,
          taskQueue: p.taskQueue('workflows'),
          ...activitiesOf('steps'),
          ...workflowSource(p.workflowBundle, interceptors),
          sinks: { ...startedWorkSinks(p.noteStarted), ...createEndSinks(p.ends) },
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

function pollersOf(queue: ActivityQueue, leaving = false): WorkerOptions['activityTaskPollerBehavior'] {
  if (queue === 'bulk') return ONE_POLLER;
  return leaving || PATIENT_QUEUES.has(queue) ? FEW_POLLERS : POLLERS;
}

/**
 * Registers the worker's build as a version of the deployment. Runs of workflows without a behavior of their own move
 * to the current version, as their `patched` branches allow (workflows/registry.ts pins the other workflows).
 */
function versionOf(version: DeploymentVersion | undefined): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!version) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

/** Makes reports about a blocked event loop name the activity. */
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

/**
 * Creates the sinks with which a starting workflow tells this worker that it runs. A replay does not call them, because
 * it repeats a workflow that started before.
 */
function startedWorkSinks(report: (begun: StartedWork) => void): InjectedSinks<StartedWorkSinks> {
  return { outbox: { noteStarted: { fn: (_workflow, begun) => report(begun), callDuringReplay: false } } };
}
