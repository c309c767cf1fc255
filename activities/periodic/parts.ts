/** The parts of one kind of periodic work: each is an activity, so a part that fails or hangs keeps no other waiting. */
export interface Parts {
  /** Names of parts that are due, in their order: after one name, up to another, and at most `limit`. */
  list(p: { since: Date; after: string | null; upTo: string | null; limit: number }): Promise<string[]>;
  /** The number of parts that are due. */
  count(since: Date): Promise<number>;
  /** Does a part, or as much of it as there is time for. @returns the cursor from which to continue, or null when the part is done */
  run(part: string, run: PartRun): Promise<string | null>;
}

/** The context in which a part runs. */
export interface PartRun {
  /** The start of the round, in the time of Postgres. */
  since: Date;
  /** The cursor at which the attempt before this one stopped, or was killed; null is the start. */
  cursor: string | null;
  /** How far back recovery looks for messages; a little more than a day unless an operator says so. */
  messagesOfHours: number | undefined;
  /** Tells Temporal the cursor of the part. */
  save(cursor: string): void;
  /**
   * Tells Temporal the cursor of the part, between two steps of the work.
   * @returns false when the time of this activity is over
   * @throws Error when the activity is cancelled
   */
  goOn(cursor?: string): boolean;
  /** Records that something of the part failed, while the rest of it continues. */
  noteFailure(what: string, error: unknown): Promise<void>;
}

/** Parts with fixed names, for work that is not split by rows. */
export function listParts(parts: Record<string, (run: PartRun) => Promise<string | null>>): Parts {
  const names = Object.keys(parts).sort();
  return {
    list: async ({ after, upTo, limit }) =>
      names.filter((name) => (after === null || name > after) && (upTo === null || name <= upTo)).slice(0, limit),
    count: async () => names.length,
    run: async (part, run) => (await parts[part]?.(run)) ?? null,
  };
}
