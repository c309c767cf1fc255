/**
 * The maximum number of visits that a run keeps, which is about 8 KB. Normally the set is small: signals are only a few
 * visits ahead of the workflow, because steps without a wait share one transaction.
 */
const VISITS_MAX = 1_000;

/**
 * A set of visits whose pause is over: the awaited event has arrived, a user has ended the pause, or a sending window
 * now opens earlier. Visit numbers only grow, so `dropBefore` removes the visits before the current visit.
 */
export class SatisfiedVisits {
  private readonly visits: Set<number>;
  /**
   * The highest visit in the set, or a higher visit that `delete` or `dropBefore` has removed. This number is
   * recomputed only when `add` drops the highest visit, because thousands of signals may arrive in one workflow task.
   */
  private farthest: number;

  constructor(visits: readonly number[] = []) {
    this.visits = new Set(visits);
    this.farthest = Math.max(0, ...visits);
  }

  /**
   * Adds a visit. If the set has too many visits, drops the highest visit, because the execution has not reached it
   * yet.
   */
  add(visit: number): void {
    // The loop runs again if `delete` or `dropBefore` has already removed the visit `farthest`, because then no visit
    // was dropped.
    while (this.visits.size >= VISITS_MAX) {
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

  /** Removes a visit. Returns whether the set contained it. */
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
