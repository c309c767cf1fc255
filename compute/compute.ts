import { type Budgets, createBudgets, type Work } from './budgets.ts';
import type { TaskName, TaskResult, Tasks } from './tasks.ts';
import { createThreads, type Threads } from './threads.ts';

export type { Work } from './budgets.ts';
export { OverBudget } from './budgets.ts';

/** The processor time of one computation, for metrics. */
export interface ComputedWork {
  kind: string;
  cpuMs: number;
}

/**
 * Runs a task in a thread for a job whose cost was charged in advance. Arrays in `transfer` that cover a whole buffer
 * are transferred to the thread, not copied, so the caller can no longer use them.
 */
export type RunPrepaidTask = <K extends TaskName>(
  name: K,
  input: Parameters<Tasks[K]>[0],
  transfer?: Uint8Array[],
) => Promise<TaskResult<K>>;

/**
 * Runs a tenant's costly computations, and charges them to the project's budget of processor time in this process. Work
 * waits while its project is over its budget or has too many jobs. Wait for the budget before you take a shared
 * resource, such as a connection or a slot.
 */
export interface Compute {
  /**
   * Runs a task of `tasks.ts` in a thread that limits time and memory.
   * @throws OverBudget; errors of the task; TimeLimitExceeded if the task was stopped
   */
  runInThread<K extends TaskName>(work: Work, name: K, input: Parameters<Tasks[K]>[0]): Promise<TaskResult<K>>;
  /**
   * Runs a request with an Idempotency-Key. Each such request holds a database connection until it ends, so only two
   * such requests of one project run concurrently.
   * @throws OverBudget
   */
  runKeyedRequest<T>(work: Work, run: () => Promise<T>): Promise<T>;
  /**
   * Runs a read whose result may have several megabytes, such as a page of a list, an export or a preview. The result
   * is in memory twice, so only two such reads of one project run concurrently. Charges the project by the size of the
   * result, if the caller reports the size with `charge`.
   * @throws OverBudget
   */
  runLargeRead<T>(work: Work, run: (charge: (bytes: number) => void) => Promise<T>): Promise<T>;
  /**
   * Runs a request with a large body, which a thread parses. Charges the project in advance, by the size of the body.
   * @throws OverBudget
   */
  runLargeRequest<T>(work: Work, bytes: number, run: (inThread: RunPrepaidTask) => Promise<T>): Promise<T>;
  /**
   * Runs the sending of an email with large attachments. A thread composes the message of the email. Charges the
   * project in advance, by the size of the attachments. The email is in memory while `run` lasts, so the number of such
   * emails is limited, per project and for all projects.
   * @throws OverBudget
   */
  runLargeEmail<T>(work: Work, bytes: number, run: (inThread: RunPrepaidTask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MB = 1024 * 1024;
/**
 * Processor milliseconds per MB of a request body, measured with 10 MB of attachments: 1.5 for counting values, 4 for
 * parsing, 5 for checking, 1 for decoding the attachments, 1 for sending them to Postgres, and 10 in Postgres.
 */
const LARGE_REQUEST_MS_PER_MB = 30;
/**
 * Processor milliseconds per MB of attachments, measured in the same way: 6 for reading, 6 for composing, 5 for the
 * signature of the message, 3 for preparing the SMTP data, some for writing that data, and 5 in Postgres.
 */
const LARGE_EMAIL_MS_PER_MB = 30;
/**
 * Processor milliseconds per MB of a page, measured with pages of 4 MB of all lists: half in Postgres, half in this
 * process.
 */
const PAGE_MS_PER_MB = 40;
/** The processor milliseconds for input of usual size. Larger input gets proportionally more time in a thread. */
const USUAL_MS = 250;
/** The maximum number of large emails in memory, over all projects. Each email may be in memory three times. */
const LARGE_EMAILS = 4;

/**
 * Creates the `Compute` of a process.
 * @param p.cpuMsPerSecond the budget of each project; 0 for no limit
 */
export function createCompute(p: {
  cpuMsPerSecond: number;
  budgets?: Budgets;
  threads?: Threads;
  onDone?: (done: ComputedWork) => void;
  /**
   * Called when work continues after a wait for the budget or for a thread. `LoopWatch` counts the time from then on as
   * time of this work.
   */
  onResume?: () => void;
}): Compute {
  const budgets = p.budgets ?? createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // Large reads have their own budget, because a read may also use the compute budget.
  const reads = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // Large requests have their own budget, so that a slow upload delays only other uploads of the project.
  const largeRequests = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  const threads = p.threads ?? createThreads();
  const onResume = p.onResume ?? (() => {});
  const keyed = createBudgets({ cpuMsPerSecond: 0 });
  const largeEmails = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond, processJobsMax: LARGE_EMAILS });

  async function runLargeJob<T>(
    { budgets, work, ms }: { budgets: Budgets; work: Work; ms: number },
    run: (inThread: RunPrepaidTask) => Promise<T>,
  ): Promise<T> {
    const { projectId, kind } = work;
    const reportCost = (cpuMs: number) => p.onDone?.({ kind, cpuMs });
    return budgets.run(work, (charge) => {
      charge(ms);
      const limitFactor = 1 + ms / USUAL_MS;
      onResume();
      return run((name, input, transfer) =>
        threads.run({ projectId, name, input, transfer, limitFactor, charge: reportCost }).finally(onResume),
      );
    });
  }

  return {
    runInThread(work, name, input) {
      const { projectId, kind } = work;
      const done = budgets.run(work, (charge) =>
        threads.run({
          projectId,
          name,
          input,
          charge: (cpuMs) => {
            charge(cpuMs);
            p.onDone?.({ kind, cpuMs });
          },
        }),
      );
      return done.finally(onResume);
    },
    runLargeRead: (work, run) =>
      reads.run(work, (charge) => {
        onResume();
        return run((bytes) => {
          const cpuMs = (bytes / MB) * PAGE_MS_PER_MB;
          charge(cpuMs);
          p.onDone?.({ kind: work.kind, cpuMs });
        });
      }),
    runKeyedRequest: (work, run) => keyed.run(work, run),
    runLargeRequest: (work, bytes, run) =>
      runLargeJob({ budgets: largeRequests, work, ms: (bytes / MB) * LARGE_REQUEST_MS_PER_MB }, run),
    runLargeEmail: (work, bytes, run) =>
      runLargeJob({ budgets: largeEmails, work, ms: (bytes / MB) * LARGE_EMAIL_MS_PER_MB }, run),
    close: () => threads.close(),
  };
}
