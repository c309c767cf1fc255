/**
 * The parts of one kind of periodic work. Each part runs as a separate activity, so a part that fails or hangs delays
 * no other part.
 */
export interface PeriodicParts {
  /** Lists at most `limit` names of due parts in order: names greater than `after`, up to and including `upTo`. */
  list(p: { since: Date; after: string | null; upTo: string | null; limit: number }): Promise<string[]>;
  /** The number of parts that are due. */
  count(since: Date): Promise<number>;
  /**
   * Runs a part until it is done or the time of the activity is over.
   * @returns the cursor at which to continue, or null if the part is done
   */
  run(part: string, run: PartRun): Promise<string | null>;
}

/** The context in which a part runs. */
export interface PartRun {
  /** The start of the round, in Postgres time. */
  since: Date;
  /** The last cursor that the previous attempt saved. Null at the start of the part. */
  cursor: string | null;
  /**
   * Recovery checks messages of this many past hours. By default it checks a little more than a day; an operator can
   * choose another number.
   */
  messagesOfHours: number | undefined;
  /** Saves the cursor of the part in Temporal, with a heartbeat. */
  save(cursor: string): void;
  /**
   * Saves the cursor of the part in Temporal, and checks whether the part may continue. Called between two steps of the
   * work.
   * @returns false if the time of this activity is over
   * @throws Error if the activity is cancelled
   */
  mayContinue(cursor?: string): boolean;
  /**
   * Records for the operator that an item of the part failed, for the first ten failures of an activity. The part
   * continues with its other items.
   */
  noteFailure(what: string, error: unknown): Promise<void>;
}

/** Returns parts with fixed names, for periodic work whose parts do not depend on rows of a table. */
export function createNamedParts(parts: Record<string, (run: PartRun) => Promise<string | null>>): PeriodicParts {
  const names = Object.keys(parts).sort();
  return {
    list: async ({ after, upTo, limit }) =>
      names.filter((name) => (after === null || name > after) && (upTo === null || name <= upTo)).slice(0, limit),
    count: async () => names.length,
    run: async (part, run) => (await parts[part]?.(run)) ?? null,
  };
}
