import type { Pace } from '../db/executions/timer-seconds.ts';

/**
 * From the hand-over of a start to its first task: what Temporal and the workers take at the most before it has to wait
 * in the outbox.
 */
const TARGET_MS = 250;
/** Beneath this there is room for more. */
const EASY_MS = 125;
const FIRST_WINDOW = 32;
/** So many at least, however slow: otherwise a pause of a second would close the door for good. */
const MIN_WINDOW = 8;
/** In effect no limit. */
const MAX_WINDOW = 100_000;
/** The window changes at most this often, so that it sees what the last change did. */
const INTERVAL_MS = 200;
/** A window that is too wide shrinks by this at the most at a time. */
const SHRINK_MIN = 0.5;
const GROW = 1.5;

/**
 * How much Temporal may have that it has not begun, over all processes. Its own queues are first come first served over
 * all tenants: what stands there makes everybody wait, what stands in the outbox only those of the same project. The
 * window follows what is measured: it grows while starts begin soon and it is what holds them back, and shrinks while
 * they begin late. Each process keeps its own, of the same whole.
 */
export class Admission {
  private size = FIRST_WINDOW;
  private waits: number[] = [];
  private heldBack = false;
  private changedAtMs = 0;
  private lastWaitMs = 0;

  /** Starts, signals and cancels that may be with Temporal without having begun. */
  get window(): number {
    return this.size;
  }

  /** How Temporal followed when something began last; `easy` before. */
  pace(): Pace {
    if (this.lastWaitMs > TARGET_MS) return 'late';
    return this.lastWaitMs < EASY_MS ? 'easy' : 'busy';
  }

  /** The window was full: rows may be waiting because of it. */
  full(): void {
    this.heldBack = true;
  }

  /** What was handed over has begun after so many milliseconds. */
  begun(waitsMs: number[], nowMs: number = Date.now()): void {
    this.waits.push(...waitsMs);
    if (this.waits.length === 0 || nowMs - this.changedAtMs < INTERVAL_MS) return;
    const waitMs = ninetieth(this.waits);
    this.waits = [];
    this.changedAtMs = nowMs;
    this.lastWaitMs = waitMs;
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
