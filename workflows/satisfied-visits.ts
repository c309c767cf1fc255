/**
 * The most visits that a run keeps, about 8 KB. Signals are at most a few visits ahead of the execution, because steps
 * without a wait share one transaction.
 */
const VISITS_MAX = 1_000;

/**
 * The visits for which the awaited event has arrived. Visit numbers only grow, so visits before the current one are
 * dropped.
 */
export class SatisfiedVisits {
  private readonly visits: Set<number>;
  /**
   * The highest visit. Recomputed only when it is dropped, because thousands of signals may arrive in one workflow
   * task.
   */
  private farthest: number;

  constructor(visits: readonly number[] = []) {
    this.visits = new Set(visits);
    this.farthest = Math.max(0, ...visits);
  }

  /** Adds a visit. At the limit, drops the highest one, because the execution cannot have reached it yet. */
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

  dropBefore(visit: number): void {
    for (const other of this.visits) if (other < visit) this.visits.delete(other);
  }

  toJSON(): number[] {
    return [...this.visits];
  }
}
