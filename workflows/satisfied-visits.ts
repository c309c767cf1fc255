/**
 * The most visits that a run keeps, about 8 KB. Steps without a wait pass in one transaction, so signals are ahead of
 * the execution by a few visits at most.
 */
const VISITS_MAX = 1_000;

/**
 * The visits of an execution whose event has arrived. Visit numbers only grow, so visits before the current one are
 * dropped.
 */
export class SatisfiedVisits {
  private readonly visits: Set<number>;
  /** The highest visit. Computed only when one is dropped, because thousands of signals may come in one task. */
  private farthest: number;

  constructor(visits: readonly number[] = []) {
    this.visits = new Set(visits);
    this.farthest = Math.max(0, ...visits);
  }

  /** Adds a visit. At the limit the farthest one is dropped, which the execution cannot have reached. */
  add(visit: number): void {
    if (this.visits.size >= VISITS_MAX) {
      if (visit >= this.farthest) return;
      this.visits.delete(this.farthest);
      this.farthest = Math.max(...this.visits);
    }
    this.visits.add(visit);
    this.farthest = Math.max(this.farthest, visit);
  }

  has(visit: number): boolean {
    return this.visits.has(visit);
  }

  /** Returns whether the visit was present. */
  delete(visit: number): boolean {
    return this.visits.delete(visit);
  }

  forgetBefore(visit: number): void {
    for (const other of this.visits) if (other < visit) this.visits.delete(other);
  }

  toJSON(): number[] {
    return [...this.visits];
  }
}
