/**
 * How many mails of this process may be on the wire, answered, or being committed at a time. It is the most that a kill of the process can
 * double, so it is backpressure: whoever is over it waits before the next mail is taken. Projects take turns, and none has all places: behind a
 * slow relay one with thousands of mails would keep the others' waiting for minutes.
 */
export interface InDoubtLimit {
  /** Runs `work` when there is room for the project. */
  run<T>(projectId: string, work: () => Promise<T>): Promise<T>;
  readonly current: number;
}

/** @param p.ofProject places that one project may have at a time */
export function createInDoubtLimit(p: { max: number; ofProject: number }): InDoubtLimit {
  /** Who waits, by project; a Map keeps the order in which projects have their turns. */
  const waiting = new Map<string, (() => void)[]>();
  const taken = new Map<string, number>();
  let current = 0;

  const of = (projectId: string): number => taken.get(projectId) ?? 0;
  const hasRoom = (projectId: string): boolean => current < p.max && of(projectId) < p.ofProject;

  function enter(projectId: string): void {
    current += 1;
    taken.set(projectId, of(projectId) + 1);
  }

  function leave(projectId: string): void {
    current -= 1;
    if (of(projectId) > 1) taken.set(projectId, of(projectId) - 1);
    else taken.delete(projectId);
    const next = [...waiting.keys()].find(hasRoom);
    if (next !== undefined) letIn(next);
  }

  /** The place is taken before its owner goes on, so that nobody who comes later slips in between. */
  function letIn(projectId: string): void {
    const queue = waiting.get(projectId) ?? [];
    const resolve = queue.shift();
    waiting.delete(projectId);
    if (queue.length > 0) waiting.set(projectId, queue);
    if (!resolve) return;
    enter(projectId);
    resolve();
  }

  return {
    async run(projectId, work) {
      if (hasRoom(projectId) && !waiting.has(projectId)) enter(projectId);
      else {
        await new Promise<void>((resolve) => {
          const queue = waiting.get(projectId);
          if (queue) queue.push(resolve);
          else waiting.set(projectId, [resolve]);
        });
      }
      try {
        return await work();
      } finally {
        leave(projectId);
      }
    },
    get current() {
      return current;
    },
  };
}
