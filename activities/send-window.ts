/**
 * How many campaign mails of a process may be on the wire, answered, or being committed at a time: the most that a kill of the process can
 * double, so it is backpressure. 200 loses nothing of the speed; without a limit a slow commit piles up tens of thousands (performance.md §3).
 */
export interface SendWindow {
  /** Takes a place; a promise only where one has to be waited for, because most messages need not wait. */
  take(): Promise<void> | undefined;
  give(places: number): void;
  readonly taken: number;
}

export function createSendWindow(max: number): SendWindow {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    take() {
      if (taken < max) {
        taken += 1;
        return undefined;
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    give(places) {
      for (let place = 0; place < places; place++) {
        // A place passes on directly, so that nobody who comes later slips in between.
        const next = waiting.shift();
        if (next) next();
        else taken -= 1;
      }
    },
    get taken() {
      return taken;
    },
  };
}
