import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../rules/fair-queue.ts';
import { type TimeLimit, TimeLimitExceeded } from '../rules/time-limit.ts';
import type { TaskName, TaskResult, Tasks } from './tasks.ts';
import { fromPortableError, listTransferableBuffers, type TaskMessage, type TaskReply } from './thread-messages.ts';

/**
 * Number of threads of a process: one less than the number of processors, within these limits. One project uses at most
 * one thread, so no single project takes all threads. More threads would only compete with the process itself.
 */
const THREADS_MIN = 2;
const THREADS_MAX = 4;
/**
 * Time limit of a template in a thread. It is longer than the 180 ms on the main thread, because a thread does not
 * block other projects. Threads have a lower priority than the main loop (`thread.ts`), so a task that got no processor
 * time is attempted again.
 */
const TEMPLATE_LIMIT: TimeLimit = { ms: 400, attempts: 3 };
/**
 * A thread is ended when its task takes longer than this, because V8 cannot interrupt every operation at
 * `TEMPLATE_LIMIT`. This limit is far longer than `TEMPLATE_LIMIT`, so that no thread is ended only because the machine
 * is busy.
 */
const HARD_LIMIT_MS = 10_000;
/**
 * Memory limits of a thread. When a thread renders an email, each part of the email (subject, body and so on) has at
 * most 3 million characters, and the results of all Liquid filters together have at most 10 million. Reading a CSV file
 * of 5 MB took a third of this memory.
 */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 };
/** A thread costs about 30 MB, so a thread that was unused for this long ends. */
const IDLE_MS = 60_000;

type Input<K extends TaskName> = Parameters<Tasks[K]>[0];

export interface Threads {
  /**
   * Runs a task in a thread. Projects take turns, and only one task of a project runs at a time. `charge`
   * receives the task's milliseconds of processor time, also after a failure.
   * @throws errors of the task; TimeLimitExceeded if the task was stopped because it used too much time or memory
   */
  run<K extends TaskName>(p: {
    projectId: string;
    name: K;
    input: Input<K>;
    /** Arrays of `input` to transfer, not copy, if they cover a whole buffer. The caller can no longer use them. */
    transfer?: Uint8Array[] | undefined;
    /** Factor for `HARD_LIMIT_MS`, for large input; 1 by default. */
    limitFactor?: number;
    charge?: (cpuMs: number) => void;
  }): Promise<TaskResult<K>>;
  /** Ends all threads. Running tasks fail. */
  close(): Promise<void>;
}

interface Job {
  projectId: string;
  message: Omit<TaskMessage, 'id'>;
  transfer: Uint8Array[];
  limitMs: number;
  charge: (cpuMs: number) => void;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** Creates a pool of two to four threads with limits on time and memory. Each thread starts at its first task. */
export function createThreads(options: { threads?: number; hardLimitMs?: number; idleMs?: number } = {}): Threads {
  const max = options.threads ?? Math.min(THREADS_MAX, Math.max(THREADS_MIN, availableParallelism() - 1));
  const { hardLimitMs = HARD_LIMIT_MS, idleMs = IDLE_MS } = options;
  const waiting = new FairQueue<Job>();
  const busyProjects = new Set<string>();
  const threads = new Set<Thread>();
  let closed = false;

  function startJobs(): void {
    for (;;) {
      const idle = [...threads].find(({ busy }) => !busy);
      const job =
        idle || threads.size < max ? waiting.take((projectId) => !busyProjects.has(projectId))?.item : undefined;
      if (!job) return;
      const thread = idle ?? startThread();
      busyProjects.add(job.projectId);
      void thread.runJob(job).finally(() => {
        busyProjects.delete(job.projectId);
        startJobs();
      });
    }
  }

  function startThread(): Thread {
    const thread = new Thread({ idleMs, onEnd: () => threads.delete(thread) });
    threads.add(thread);
    return thread;
  }

  return {
    run(p) {
      if (closed) return Promise.reject(new Error('the threads have ended'));
      return new Promise((resolve, reject) => {
        const job: Job = {
          projectId: p.projectId,
          message: { name: p.name, input: p.input },
          transfer: p.transfer ?? [],
          limitMs: hardLimitMs * (p.limitFactor ?? 1),
          charge: p.charge ?? (() => {}),
          resolve: resolve as (value: unknown) => void,
          reject,
        };
        waiting.add(p.projectId, job);
        startJobs();
      });
    },
    async close() {
      closed = true;
      // The task did not cause this failure. The error is therefore not a `TimeLimitExceeded`, and the caller may retry
      // the task in another process.
      const closing = new Error('the threads have ended');
      for (const job of waiting.clear()) job.reject(closing);
      await Promise.all([...threads].map((thread) => thread.end(closing)));
    },
  };
}

class Thread {
  busy = false;
  private readonly worker: Worker;
  private readonly ready: Promise<void>;
  private readonly ended: Promise<void>;
  private onReply: ((reply: TaskReply) => void) | undefined;
  private fail: ((error: Error) => void) | undefined;
  private hasEnded = false;
  private endError: Error = new Error('the thread has ended');
  private lastTaskId = 0;
  private idle: NodeJS.Timeout | undefined;

  private readonly p: { idleMs: number; onEnd: () => void };

  /**
   * @param p.onEnd called when the thread starts to end or has ended, perhaps twice; the thread must then get no more
   * tasks
   */
  constructor(p: Thread['p']) {
    this.p = p;
    this.worker = startWorkerThread();
    this.worker.unref();
    this.ready = new Promise((resolve, reject) => {
      this.worker.once('message', () => resolve());
      this.worker.once('error', reject);
      this.worker.once('exit', () => reject(new Error('the thread did not start')));
    });
    this.ready.catch(() => {});
    this.ended = new Promise((resolve) => {
      const end = (error: Error) => {
        if (!this.hasEnded) p.onEnd();
        this.hasEnded = true;
        this.fail?.(error);
        resolve();
      };
      this.worker.on('error', (error) => end(isOutOfMemory(error) ? new TimeLimitExceeded(error.message) : error));
      this.worker.on('exit', () => end(this.endError));
    });
    this.worker.on('message', (message: TaskReply | 'ready') => {
      if (message !== 'ready') this.onReply?.(message);
    });
  }

  /** Runs the job's task and settles the job's promise. The returned promise never rejects. */
  async runJob(job: Job): Promise<void> {
    this.busy = true;
    clearTimeout(this.idle);
    this.worker.ref();
    try {
      await this.ready;
      const reply = await this.sendTask(job);
      job.charge(reply.cpuMs);
      if ('error' in reply) job.reject(fromPortableError(reply.error));
      else job.resolve(reply.value);
    } catch (error) {
      // The task used too much time or memory, so the project is charged for the whole limit.
      if (error instanceof TimeLimitExceeded) job.charge(job.limitMs);
      job.reject(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.busy = false;
      this.worker.unref();
      this.idle = setTimeout(() => void this.end(), this.p.idleMs).unref();
    }
  }

  /** Ends the thread. Its running task fails with `error`, by default with `TimeLimitExceeded`. */
  async end(error: Error = new TimeLimitExceeded('the task exceeded its time limit')): Promise<void> {
    this.endError = error;
    clearTimeout(this.idle);
    // The exit is reported later. Until then, this thread must get no task, because the task would fail.
    this.p.onEnd();
    void this.worker.terminate();
    await this.ended;
  }

  private sendTask({ message, transfer, limitMs }: Job): Promise<TaskReply> {
    const id = ++this.lastTaskId;
    return new Promise<TaskReply>((resolve, reject) => {
      // With `setImmediate`, a reply that arrived while the main thread was blocked is processed first.
      const limit = setTimeout(() => setImmediate(() => this.onReply && void this.end()), limitMs);
      this.fail = reject;
      this.onReply = (reply) => {
        if (reply.id !== id) return;
        clearTimeout(limit);
        this.onReply = undefined;
        this.fail = undefined;
        resolve(reply);
      };
      if (this.hasEnded) reject(new Error('the thread has ended'));
      else this.worker.postMessage({ id, ...message } satisfies TaskMessage, listTransferableBuffers(transfer));
    }).finally(() => {
      this.onReply = undefined;
      this.fail = undefined;
    });
  }
}

/** Tells whether the task used too much memory. Any other error of a thread is a bug of the service. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Starts a thread from the built file, or from the sources if the process runs from the sources. */
function startWorkerThread(): Worker {
  const entry = import.meta.url.endsWith('.ts') ? './thread-of-sources.mjs' : './thread.js';
  return new Worker(new URL(entry, import.meta.url), {
    workerData: { timeLimit: TEMPLATE_LIMIT },
    resourceLimits: RESOURCE_LIMITS,
    // The thread gets no environment variables, so that tenants' content cannot read the settings of the process.
    env: {},
  });
}
