/** The parts of one kind of periodic work. Each part is an activity, so a part that fails or hangs delays no other. */
export interface PeriodicParts {
  /** Lists at most `limit` names of due parts, in order: the names after `after`, up to `upTo`. */
  list(p: { since: Date; after: string | null; upTo: string | null; limit: number }): Promise<string[]>;
  /** The number of parts that are due. */
  count(since: Date): Promise<number>;
  /**
   * Does a part, or as much of it as time allows.
   * @returns the cursor from which to continue, or null when the part is done
   */
  run(part: string, run: PartRun): Promise<string | null>;
}

/** The context in which a part runs. */
export interface PartRun {
  /** The start of the round, in Postgres time. */
  since: Date;
  /** The cursor at which the attempt before this one stopped or was killed; null for the start. */
  cursor: string | null;
  /**
   * The number of hours for which recovery looks back for messages. By default a little more than a day; an operator
   * can set it.
   */
  messagesOfHours: number | undefined;
  /** Tells Temporal the cursor of the part. */
  save(cursor: string): void;
  /**
   * Tells Temporal the cursor of the part, between two steps of the work.
   * @returns false when the time of this activity is over
   * @throws Error when the activity is cancelled
   */
  mayContinue(cursor?: string): boolean;
  /** Records that an item of the part failed, while the rest of the part continues. */
  noteFailure(what: string, error: unknown): Promise<void>;
}

/** Parts with fixed names, for work that is not split by rows. */
export function listParts(parts: Record<string, (run: PartRun) => Promise<string | null>>): PeriodicParts {
  const names = Object.keys(parts).sort();
  return {
    list: async ({ after, upTo, limit }) =>
      names.filter((name) => (after === null || name > after) && (upTo === null || name <= upTo)).slice(0, limit),
    count: async () => names.length,
    run: async (part, run) => (await parts[part]?.(run)) ?? null,
  };
}
