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
  /**
   * Work that has to be done on this thread, a list of large records for example: what `work` computes between its waits cannot be told, so
   * each call of it is counted as `costMs`.
   * @throws OverBudget
   */
  here<T>(work: Work & { costMs: number }, run: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** One a process. `cpuMsPerSecond` is what each project may compute, 0 for no limit. */
export function createCompute(p: {
  cpuMsPerSecond: number;
  budgets?: Budgets;
  threads?: Threads;
  onDone?: (done: WorkDone) => void;
}): Compute {
  const budgets = p.budgets ?? createBudgets({ cpuMsPerSecond: p.cpuMsPerSecond });
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
    here: ({ costMs, ...work }, run) =>
      budgets.run(work, (charge) => {
        charge(costMs);
        return run();
      }),
    close: () => threads.close(),
  };
}
