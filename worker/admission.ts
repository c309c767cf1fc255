/** The target for the time from the hand-over of a start to its first task. Beyond it, starts wait in the outbox. */
const TARGET_MS = 250;
/** Below this the window may grow. */
const EASY_MS = 125;
const FIRST_WINDOW = 32;
/** The smallest window, because a pause of a second would otherwise close it permanently. */
const MIN_WINDOW = 8;
/** The largest window, in effect no limit. */
const MAX_WINDOW = 100_000;
/** The minimum time between two changes of the window, so that each change sees the effect of the last one. */
const INTERVAL_MS = 200;
/** The smallest factor by which the window shrinks at a time. */
const SHRINK_MIN = 0.5;
const GROW = 1.5;

/**
 * Limits how much Temporal may hold that it has not started, over all processes. Temporal's own queues are first come,
 * first served over all tenants: work there delays every tenant, work in the outbox only its own project. The window
 * follows measurements: it grows while starts are fast and the window holds them back, and shrinks while they are slow.
 * Each process keeps its own window of the same total.
 */
export class Admission {
  private size = FIRST_WINDOW;
  private waits: number[] = [];
  private heldBack = false;
  private changedAtMs = 0;

  /** The number of starts, signals and cancels that Temporal may hold without having started them. */
  get window(): number {
    return this.size;
  }

  /** Records that the window was full, so rows may be waiting because of it. */
  full(): void {
    this.heldBack = true;
  }

  /** Records how many milliseconds started work has waited. */
  noteStarted(waitsMs: number[], nowMs: number = Date.now()): void {
    this.waits.push(...waitsMs);
    if (this.waits.length === 0 || nowMs - this.changedAtMs < INTERVAL_MS) return;
    const waitMs = ninetieth(this.waits);
    this.waits = [];
    this.changedAtMs = nowMs;
    if (waitMs > TARGET_MS) this.resize(this.size * Math.max(SHRINK_MIN, TARGET_MS / waitMs));
    else if (waitMs < EASY_MS && this.heldBack) this.resize(this.size * GROW);
    this.heldBack = false;
  }

  private resize(size: number): void {
    this.size = Math.round(Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, size)));
  }
}

function ninetieth(waits: number[]): number {
  const sorted = waits.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.9)] ?? 0;
}
