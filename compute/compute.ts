import { type Budgets, createBudgets, type Work } from './budgets.ts';
import type { TaskName, TaskResult, Tasks } from './tasks.ts';
import { createThreads, type Threads } from './threads.ts';

export type { Work } from './budgets.ts';
export { OverBudget } from './budgets.ts';

/** Cost of jobs of one kind, for metrics. */
export interface ComputedWork {
  kind: string;
  cpuMs: number;
}

/**
 * Runs a task in a thread for a job whose cost was charged in advance. Arrays in `handOver` that cover a whole
 * buffer are transferred, not copied, so the caller can no longer use them.
 */
export type PaidFor = <K extends TaskName>(
  name: K,
  input: Parameters<Tasks[K]>[0],
  handOver?: Uint8Array[],
) => Promise<TaskResult<K>>;

/**
 * Runs computations for a tenant that may take long, and charges them to the project's budget of processor time in this
 * process. Only projects over their budget wait. Wait for the budget before you take a shared resource, such as a
 * connection or a slot.
 */
export interface Compute {
  /** Runs a task of `tasks.ts` in a thread, bounded in time and memory. @throws OverBudget and the task's errors */
  inThread<K extends TaskName>(work: Work, name: K, input: Parameters<Tasks[K]>[0]): Promise<TaskResult<K>>;
  /**
   * Runs a request with an Idempotency-Key. Each such request holds a database connection until it ends, so only a few
   * of one project run concurrently.
   * @throws OverBudget
   */
  keyed<T>(work: Work, run: () => Promise<T>): Promise<T>;
  /**
   * Builds a page of a list. A page may have several megabytes and is in memory twice, so only a few pages of one
   * project are built concurrently. Charges the project by the size of the page, which the caller reports with
   * `charge`.
   * @throws OverBudget
   */
  page<T>(work: Work, run: (charge: (bytes: number) => void) => Promise<T>): Promise<T>;
  /**
   * Runs a request with a large body, which a thread parses. Charges the project in advance, by the size of the body.
   * @throws OverBudget
   */
  largeRequest<T>(work: Work, bytes: number, run: (inThread: PaidFor) => Promise<T>): Promise<T>;
  /**
   * Sends an email with large files, which a thread composes. Charges the project in advance, by the size. The email is
   * in memory while `run` lasts, so the number of such emails is limited, per project and for all projects.
   * @throws OverBudget
   */
  largeMail<T>(work: Work, bytes: number, run: (inThread: PaidFor) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MB = 1024 * 1024;
/**
 * Milliseconds per MB of a body, measured with 10 MB of attachments: 1.5 for counting values, 4 for parsing, 5 for
 * checking, 1 for decoding, the same again to send them to Postgres, and 10 in Postgres.
 */
const LARGE_REQUEST_MS_PER_MB = 30;
/**
 * Milliseconds per MB of files, measured in the same way: 6 for reading, 6 for the message, 5 for its signature, 3 for
 * preparing the SMTP data, some for writing that data, and 5 in Postgres.
 */
const LARGE_EMAIL_MS_PER_MB = 30;
/** Milliseconds per MB, measured with pages of 4 MB of all lists: half in Postgres, half in this process. */
const PAGE_MS_PER_MB = 40;
/** The cost of usual input. Larger input gets proportionally more time in a thread. */
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
  /** Called when work continues after it waited for the budget or for a thread (for `LoopWatch`). */
  resumed?: () => void;
}): Compute {
  const budgets = p.budgets ?? createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // Pages have their own budget, because building a page may also use the compute budget.
  const pages = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // Large requests have their own budget, so that a slow upload delays only other uploads of the project.
  const largeRequests = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  const threads = p.threads ?? createThreads();
  const resumed = p.resumed ?? (() => {});
  const keyed = createBudgets({ cpuMsPerSecond: 0 });
  const largeEmails = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond, ofProcess: LARGE_EMAILS });

  async function large<T>(
    { budgets, work, ms }: { budgets: Budgets; work: Work; ms: number },
    run: (inThread: PaidFor) => Promise<T>,
  ): Promise<T> {
    const { projectId, kind } = work;
    const charge = (cpuMs: number) => p.onDone?.({ kind, cpuMs });
    return budgets.run(work, (pay) => {
      pay(ms);
      const patience = 1 + ms / USUAL_MS;
      resumed();
      return run((name, input, handOver) =>
        threads.run({ projectId, name, input, handOver, patience, charge }).finally(resumed),
      );
    });
  }

  return {
    inThread(work, name, input) {
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
      return done.finally(resumed);
    },
    page: (work, run) =>
      pages.run(work, (charge) => {
        resumed();
        return run((bytes) => {
          const cpuMs = (bytes / MB) * PAGE_MS_PER_MB;
          charge(cpuMs);
          p.onDone?.({ kind: work.kind, cpuMs });
        });
      }),
    keyed: (work, run) => keyed.run(work, run),
    largeRequest: (work, bytes, run) =>
      large({ budgets: largeRequests, work, ms: (bytes / MB) * LARGE_REQUEST_MS_PER_MB }, run),
    largeMail: (work, bytes, run) =>
      large({ budgets: largeEmails, work, ms: (bytes / MB) * LARGE_EMAIL_MS_PER_MB }, run),
    close: () => threads.close(),
  };
}
