import { FairQueue } from '../../rules/fair-queue.ts';

/**
 * Limits how many emails of this process are on the wire, replied to, or being committed at the same time. A kill of
 * the process can double at most this many, so work beyond the limit waits before it takes the next email. Projects
 * take turns, and none has more places than its share: behind a slow relay, a project with thousands of emails would
 * otherwise delay the other projects for minutes.
 */
export class InFlightLimit {
  private readonly max: number;
  private readonly ofProject: number;
  private readonly waiting = new FairQueue<() => void>();
  private readonly taken = new Map<string, number>();
  private total = 0;

  /** @param p.ofProject the number of places that one project may have at a time; by default all */
  constructor({ max, ofProject = max }: { max: number; ofProject?: number }) {
    this.max = max;
    this.ofProject = ofProject;
  }

  /** The number of taken places. */
  get current(): number {
    return this.total;
  }

  /** Runs `work` when the project gets a place. */
  async run<T>(projectId: string, work: () => Promise<T>): Promise<T> {
    const place = this.take(projectId);
    if (place) await place;
    try {
      return await work();
    } finally {
      this.give(projectId, 1);
    }
  }

  /** Takes a place. Returns a promise only if it has to wait for one, because most emails need not wait. */
  take(projectId: string): Promise<void> | undefined {
    if (!this.waiting.has(projectId) && this.hasRoom(projectId)) {
      this.enter(projectId);
      return undefined;
    }
    return new Promise((resolve) => this.waiting.add(projectId, resolve));
  }

  /** Returns places of the project. */
  give(projectId: string, places: number): void {
    for (let place = 0; place < places; place++) {
      this.total -= 1;
      const left = this.takenBy(projectId) - 1;
      if (left > 0) this.taken.set(projectId, left);
      else this.taken.delete(projectId);
      this.letNextIn();
    }
  }

  private letNextIn(): void {
    const next = this.waiting.take((projectId) => this.hasRoom(projectId));
    if (!next) return;
    // The place is assigned before its owner continues, so that no later arrival takes it.
    this.enter(next.projectId);
    next.item();
  }

  private enter(projectId: string): void {
    this.total += 1;
    this.taken.set(projectId, this.takenBy(projectId) + 1);
  }

  private takenBy(projectId: string): number {
    return this.taken.get(projectId) ?? 0;
  }

  private hasRoom(projectId: string): boolean {
    return this.total < this.max && this.takenBy(projectId) < this.ofProject;
  }
}
