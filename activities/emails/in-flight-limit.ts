import { FairQueue } from '../../rules/fair-queue.ts';

/**
 * Limits the emails of this process that are on the wire, or replied to but not committed yet. If the process is
 * killed, at most this many are sent twice. Work beyond the limit waits before it takes the next email. Projects take
 * turns, and no project has more slots than its share: with a slow relay, a project with thousands of emails would
 * otherwise delay the others for minutes.
 */
export class InFlightLimit {
  private readonly max: number;
  private readonly ofProject: number;
  private readonly waiting = new FairQueue<() => void>();
  private readonly taken = new Map<string, number>();
  private total = 0;

  /**
   * @param p.ofProject the number of slots that one project may have at a time; by default all
   */
  constructor({ max, ofProject = max }: { max: number; ofProject?: number }) {
    this.max = max;
    this.ofProject = ofProject;
  }

  /** The number of taken slots. */
  get current(): number {
    return this.total;
  }

  /** Runs `work` when the project gets a slot. */
  async run<T>(projectId: string, work: () => Promise<T>): Promise<T> {
    const place = this.take(projectId);
    if (place) await place;
    try {
      return await work();
    } finally {
      this.release(projectId, 1);
    }
  }

  /** Takes a slot. Returns a promise only if it has to wait for one, because most emails need not wait. */
  take(projectId: string): Promise<void> | undefined {
    if (!this.waiting.has(projectId) && this.hasRoom(projectId)) {
      this.enter(projectId);
      return undefined;
    }
    return new Promise((resolve) => this.waiting.add(projectId, resolve));
  }

  /** Frees slots of the project. */
  release(projectId: string, places: number): void {
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
    // The slot is assigned before its owner continues, so that no later caller takes it.
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
