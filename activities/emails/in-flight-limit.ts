import { FairQueue } from '../../rules/fair-queue.ts';

/**
 * Limits how many emails of this process are in flight: on the wire, or with a reply that is not recorded yet. If the
 * process is killed, at most `max` emails are sent twice. An email beyond the limit waits for a slot. Waiting projects
 * get slots in turn, and no project has more than `ofProject` slots. Otherwise, with a slow relay, a project with
 * thousands of emails would delay other projects for minutes.
 */
export class InFlightLimit {
  private readonly max: number;
  private readonly ofProject: number;
  private readonly waiting = new FairQueue<() => void>();
  private readonly slotsByProject = new Map<string, number>();
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
    const slot = this.take(projectId);
    if (slot) await slot;
    try {
      return await work();
    } finally {
      this.release(projectId, 1);
    }
  }

  /**
   * Takes a slot. Returns a promise only if the caller has to wait for a slot. Most emails get a slot at once, without
   * the cost of a promise.
   */
  take(projectId: string): Promise<void> | undefined {
    if (!this.waiting.has(projectId) && this.hasFreeSlot(projectId)) {
      this.assignSlot(projectId);
      return undefined;
    }
    return new Promise((resolve) => this.waiting.add(projectId, resolve));
  }

  /** Frees slots of the project. */
  release(projectId: string, slots: number): void {
    for (let slot = 0; slot < slots; slot++) {
      this.total -= 1;
      const remaining = this.countSlotsOf(projectId) - 1;
      if (remaining > 0) this.slotsByProject.set(projectId, remaining);
      else this.slotsByProject.delete(projectId);
      this.assignFreedSlot();
    }
  }

  private assignFreedSlot(): void {
    const next = this.waiting.take((projectId) => this.hasFreeSlot(projectId));
    if (!next) return;
    // Assigns the slot before the waiting caller continues, so that no later caller takes the slot first.
    this.assignSlot(next.projectId);
    next.item();
  }

  private assignSlot(projectId: string): void {
    this.total += 1;
    this.slotsByProject.set(projectId, this.countSlotsOf(projectId) + 1);
  }

  private countSlotsOf(projectId: string): number {
    return this.slotsByProject.get(projectId) ?? 0;
  }

  private hasFreeSlot(projectId: string): boolean {
    return this.total < this.max && this.countSlotsOf(projectId) < this.ofProject;
  }
}
