import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

interface Running {
  atMs: number;
  scope: CancellationScope;
  over: boolean;
}

/**
 * A timer that survives repeated waits for the same instant: a wait that is woken and resumed starts no second timer.
 */
export class KeptTimer {
  private running: Running | undefined;

  /** Waits until `awake`, or until an instant in milliseconds since 1970. Returns whether it was `awake`. */
  async wait(awake: () => boolean, atMs: number, summary: string): Promise<boolean> {
    const kept = this.running?.atMs === atMs && !this.running.over;
    const timer = kept && this.running ? this.running : this.start(atMs, summary);
    await condition(() => awake() || timer.over);
    return awake();
  }

  cancel(): void {
    if (this.running && !this.running.over) this.running.scope.cancel();
    this.running = undefined;
  }

  private start(atMs: number, summary: string): Running {
    this.cancel();
    const timer: Running = { atMs, scope: new CancellationScope(), over: false };
    this.running = timer;
    const passing = async () => {
      await sleep(Math.max(1, atMs - Date.now()), { summary });
      timer.over = true;
    };
    timer.scope.run(passing).catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
    return timer;
  }
}
