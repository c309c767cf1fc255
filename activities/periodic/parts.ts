/** The parts of one kind of periodic work. Each part is an activity, so a part that fails or hangs delays no other. */
export interface PeriodicParts {
  /** Lists at most `limit` names of due parts in order: names greater than `after`, up to and including `upTo`. */
  list(p: { since: Date; after: string | null; upTo: string | null; limit: number }): Promise<string[]>;
  /** The number of parts that are due. */
  count(since: Date): Promise<number>;
  /** Runs a part for as long as time allows. @returns the cursor at which to continue, or null if the part is done */
  run(part: string, run: PartRun): Promise<string | null>;
}

/** The context in which a part runs. */
export interface PartRun {
  /** The start of the round, in Postgres time. */
  since: Date;
  /** The cursor at which the previous attempt stopped or was killed. Null for the start. */
  cursor: string | null;
  /**
   * How many hours recovery looks back for messages. By default a little more than a day; an operator can change it.
   */
  messagesOfHours: number | undefined;
  /** Saves the cursor of the part in Temporal. */
  save(cursor: string): void;
  /**
   * Saves the cursor of the part in Temporal, between two steps of the work.
   * @returns false if the time of this
   * activity is over
   * @throws Error if the activity is cancelled
   */
  mayContinue(cursor?: string): boolean;
  /** Records that an item of the part failed, while the rest of the part continues. */
  noteFailure(what: string, error: unknown): Promise<void>;
}

/** Parts with fixed names, for work that is not split by rows. */
export function namedParts(parts: Record<string, (run: PartRun) => Promise<string | null>>): PeriodicParts {
  const names = Object.keys(parts).sort();
  return {
    list: async ({ after, upTo, limit }) =>
      names.filter((name) => (after === null || name > after) && (upTo === null || name <= upTo)).slice(0, limit),
    count: async () => names.length,
    run: async (part, run) => (await parts[part]?.(run)) ?? null,
  };
}
