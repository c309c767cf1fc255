/** Waiting items by project. Projects take turns; the items of one project keep their order. */
export class FairQueue<Item> {
  /** A Map keeps the order in which projects take turns. */
  private readonly waiting = new Map<string, Item[]>();

  /** Tells whether items of the project wait. */
  has(projectId: string): boolean {
    return this.waiting.has(projectId);
  }

  /** Adds an item behind the project's other items. */
  add(projectId: string, item: Item): void {
    const queue = this.waiting.get(projectId);
    if (queue) queue.push(item);
    else this.waiting.set(projectId, [item]);
  }

  /** Removes and returns the first item of the next project that may be served; undefined without one. */
  take(mayServe: (projectId: string) => boolean): { projectId: string; item: Item } | undefined {
    for (const [projectId, [item, ...others]] of this.waiting) {
      if (item === undefined || !mayServe(projectId)) continue;
      // The project's next turn comes after all other projects.
      this.waiting.delete(projectId);
      if (others.length > 0) this.waiting.set(projectId, others);
      return { projectId, item };
    }
    return undefined;
  }

  /** Removes and returns all items. */
  clear(): Item[] {
    const items = [...this.waiting.values()].flat();
    this.waiting.clear();
    return items;
  }
}
