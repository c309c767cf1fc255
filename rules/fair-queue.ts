/** A queue of items that serves projects in turn. The items of one project keep their order. */
export class FairQueue<Item> {
  /** The waiting items by project, in the order in which projects are served. */
  private readonly waiting = new Map<string, Item[]>();

  /** Tells whether the project has waiting items. */
  has(projectId: string): boolean {
    return this.waiting.has(projectId);
  }

  /** Adds an item after the project's other items. */
  add(projectId: string, item: Item): void {
    const queue = this.waiting.get(projectId);
    if (queue) queue.push(item);
    else this.waiting.set(projectId, [item]);
  }

  /**
   * Removes and returns the first item of the next project that may be served. Undefined if there is no such project.
   */
  take(mayServe: (projectId: string) => boolean): { projectId: string; item: Item } | undefined {
    for (const [projectId, [item, ...others]] of this.waiting) {
      if (item === undefined || !mayServe(projectId)) continue;
      // Moves the project to the end, so that all other projects are served before its next item.
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
