/**
 * How many mails of this process may be on the wire, answered, or being committed at a time. It is the most that a kill of the process can
 * double, so it is backpressure: whoever is over it waits before the next mail is taken (performance.md §3).
 */
export interface InDoubtLimit {
  /** Runs `work` when there is room. */
  run<T>(work: () => Promise<T>): Promise<T>;
  readonly current: number;
}

export function createInDoubtLimit(max: number): InDoubtLimit {
  const waiting: (() => void)[] = [];
  let current = 0;

  function leave(): void {
    const next = waiting.shift();
    // The place passes on directly, so that nobody who comes later slips in between.
    if (next) next();
    else current -= 1;
  }

  return {
    async run(work) {
      if (current < max) current += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        leave();
      }
    },
    get current() {
      return current;
    },
  };
}
