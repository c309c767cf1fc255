import { type Budgets, createBudgets, type Work } from './budgets.ts';
import type { TaskName, Tasks } from './tasks.ts';
import { createThreads, type Threads } from './threads.ts';

export type { Work } from './budgets.ts';
export { OverBudget } from './budgets.ts';

/** What works of one kind have cost, for metrics. */
export interface WorkDone {
  kind: string;
  cpuMs: number;
}

/**
 * The way to do for a tenant what can take long: in the project's turn, from its budget of processor time in this process. Whoever is over it
 * waits, and nobody else does. Wait for it before you take what others may need: a connection, a place in a window, a turn in a lane.
 */
export interface Compute {
  /** A task of `tasks.ts` in a thread, bounded in time and memory. @throws OverBudget, and what the task throws */
  inThread<K extends TaskName>(work: Work, name: K, input: Parameters<Tasks[K]>[0]): Promise<ReturnType<Tasks[K]>>;
  /** A page of a list: few of one project at a time, for each may be megabytes, in memory twice. @throws OverBudget */
  page<T>(work: Work, run: () => Promise<T>): Promise<T>;
  /** A request with a large body, which is read, checked and stored on the thread that all share: charged by its size. @throws OverBudget */
  largeRequest<T>(work: Work, bytes: number, run: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MB = 1024 * 1024;
/** Measured with 10 MB of attachments: counting values 1.5, parsing 4, checking 5, decoding 1, and as much again to store them. */
const LARGE_REQUEST_MS_PER_MB = 20;

/** One a process. `cpuMsPerSecond` is what each project may compute, 0 for no limit. */
export function createCompute(p: {
  cpuMsPerSecond: number;
  budgets?: Budgets;
  threads?: Threads;
  onDone?: (done: WorkDone) => void;
}): Compute {
  const budgets = p.budgets ?? createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  // Of their own: what makes a page may itself compute.
  const pages = createBudgets({ cpuMsPerSecond: 0 });
  // Likewise: whoever uploads slowly keeps only other uploads of the project waiting.
  const largeRequests = createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
  const threads = p.threads ?? createThreads();
  return {
    inThread(work, name, input) {
      const { projectId, kind } = work;
      return budgets.run(work, (charge) =>
        threads.run({
          ...{ projectId, name, input },
          charge: (cpuMs) => {
            charge(cpuMs);
            p.onDone?.({ kind, cpuMs });
          },
        }),
      );
    },
    page: (work, run) => pages.run(work, run),
    largeRequest: (work, bytes, run) =>
      largeRequests.run(work, (charge) => {
        charge((bytes / MB) * LARGE_REQUEST_MS_PER_MB);
        return run();
      }),
    close: () => threads.close(),
  };
}
