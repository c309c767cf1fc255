import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

interface Running {
  atMs: number;
  scope: CancellationScope;
  isOver: boolean;
}

/**
 * A timer that several waits for the same instant share. If a wait is interrupted and then repeated, the repeated wait
 * uses the running timer, so the history gets no second timer.
 */
export class KeptTimer {
  private running: Running | undefined;

  /**
   * Waits until `isAwake()` is true or until `atMs` (milliseconds since 1970). Returns the last value of `isAwake()`.
   */
  async wait(isAwake: () => boolean, atMs: number, summary: string): Promise<boolean> {
    const isSameTimer = this.running?.atMs === atMs && !this.running.isOver;
    const timer = isSameTimer && this.running ? this.running : this.start(atMs, summary);
    await condition(() => isAwake() || timer.isOver);
    return isAwake();
  }

  cancel(): void {
    if (this.running && !this.running.isOver) this.running.scope.cancel();
    this.running = undefined;
  }

  private start(atMs: number, summary: string): Running {
    this.cancel();
    const timer: Running = { atMs, scope: new CancellationScope(), isOver: false };
    this.running = timer;
    const sleepUntilDue = async () => {
      await sleep(Math.max(1, atMs - Date.now()), { summary });
      timer.isOver = true;
    };
    timer.scope.run(sleepUntilDue).catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
    return timer;
  }
}
