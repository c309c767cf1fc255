import { type Budgets, createBudgets, type Work } from './budgets.ts';
import type { Answer, TaskName, Tasks } from './tasks.ts';
import { createThreads, type Threads } from './threads.ts';

export type { Work } from './budgets.ts';
export { OverBudget } from './budgets.ts';

/** Cost of jobs of one kind, for metrics. */
export interface WorkDone {
  kind: string;
  cpuMs: number;
}

/**
 * Runs a task in a thread for a job that was charged by its size. Whole buffers among `handOver` are transferred, not
 * copied, and are unusable here afterwards.
 */
export type PaidFor = <K extends TaskName>(
  name: K,
  input: Parameters<Tasks[K]>[0],
  handOver?: Uint8Array[],
) => Promise<Answer<K>>;

/**
 * Runs potentially long computations for a tenant: in the project's turn, from its budget of processor time in this
 * process. Only a project over its budget waits. Wait for it before you take a shared resource: a connection, a place
 * in a window, a turn in a lane.
 */
export interface Compute {
  /** A task of `tasks.ts` in a thread, bounded in time and memory. @throws OverBudget, and what the task throws */
  inThread<K extends TaskName>(work: Work, name: K, input: Parameters<Tasks[K]>[0]): Promise<Answer<K>>;
  /**
   * A request with an Idempotency-Key: few of one project at a time, for each holds a connection until it is done.
   * @throws OverBudget
   */
  keyed<T>(work: Work, run: () => Promise<T>): Promise<T>;
  /**
   * A page of a list: few of one project at a time, for each may be megabytes, in memory twice. Charged by its size,
   * which is known when it is made: `answered` takes its bytes. @throws OverBudget
   */
  page<T>(work: Work, run: (answered: (bytes: number) => void) => Promise<T>): Promise<T>;
  /**
   * A request with a large body, which is read in a thread, and stored: charged by its size before. @throws OverBudget
   */
  largeRequest<T>(work: Work, bytes: number, run: (inThread: PaidFor) => Promise<T>): Promise<T>;
  /**
   * A mail with large files, which is read from the database, made in a thread and written to a server: charged by its
   * size before. While `run` lasts it is in memory, so there are few of a project at a time, and of all projects.
   * @throws OverBudget
   */
  largeMail<T>(work: Work, bytes: number, run: (inThread: PaidFor) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MB = 1024 * 1024;
/**
 * Measured with 10 MB of attachments, per MB of a body: counting values 1.5, parsing 4, checking 5, decoding 1, as much
 * again to hand them to Postgres, and 10 there.
 */
const LARGE_REQUEST_MS_PER_MB = 30;
/**
 * Measured likewise, per MB of files: reading them 6, the message 6, its signature 5, making it ready for the wire 3,
 * writing it, and 5 in Postgres.
 */
const LARGE_MAIL_MS_PER_MB = 30;
/** Measured with pages of 4 MB of all lists, per MB: half by Postgres, half by this process. */
const PAGE_MS_PER_MB = 40;
/** Larger input gets more time in a thread, in proportion. */
const USUAL_MS = 250;
/** Large mails in memory at a time, of all projects: each may be there three times over. */
const LARGE_MAILS = 4;

/** One a process. `cpuMsPerSecond` is what each project may compute, 0 for no limit. */
export function createCompute(p: {
  cpuMsPerSecond: number;
  budgets?: Budgets;
  threads?: Threads;
  onDone?: (done: WorkDone) => void;
  /** Told when a work goes on after its turn or its thread was waited for, as `LoopWatch` wants to know. */
  resumed?: () => void;
}): Compute {
  const budgets = p.budgets ?? createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // A budget of their own, because building a page may itself compute.
  const pages = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // Likewise: a slow upload delays only other uploads of the project.
  const largeRequests = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  const threads = p.threads ?? createThreads();
  const resumed = p.resumed ?? (() => {});
  const keyed = createBudgets({ cpuMsPerSecond: 0 });
  const largeMails = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond, ofProcess: LARGE_MAILS });

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
    largeMail: (work, bytes, run) => large({ budgets: largeMails, work, ms: (bytes / MB) * LARGE_MAIL_MS_PER_MB }, run),
    close: () => threads.close(),
  };
}
