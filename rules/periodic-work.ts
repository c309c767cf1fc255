interface Work {
  everyMinutes: number;
  /** The maximum number of activities of this kind that run at the same time, for each worker process. */
  lanesPerWorker: number;
}

/** The kinds of work that Temporal starts by a schedule. Each kind has its own workflow. */
export const PERIODIC_WORK = {
  /** Compares Postgres and Temporal. Each part compares one kind of record for all projects. */
  recovery: { everyMinutes: 5, lanesPerWorker: 2 },
  /** Deletes rows whose retention has ended, table by table. */
  pruning: { everyMinutes: 60, lanesPerWorker: 2 },
  /** Computes the counts of statistics. */
  statistics: { everyMinutes: 15, lanesPerWorker: 1 },
  /** Computes tracked segments, project by project. */
  segments: { everyMinutes: 5, lanesPerWorker: 3 },
  /** Checks the DNS records of sender domains, page by page. */
  domains: { everyMinutes: 5, lanesPerWorker: 2 },
} as const satisfies Record<string, Work>;
export type PeriodicKind = keyof typeof PERIODIC_WORK;
export const PERIODIC_KINDS = Object.keys(PERIODIC_WORK) as PeriodicKind[];

/**
 * The number of activities of periodic work that one worker process runs at the same time: the lanes of all kinds, and
 * one slot for the activities that start and end a round. A kind never uses more than its own lanes, so a slow kind
 * does not delay other kinds.
 */
export const PERIODIC_SLOTS =
  1 + Object.values(PERIODIC_WORK).reduce((sum, { lanesPerWorker }) => sum + lanesPerWorker, 0);

/** If no round of a kind has ended for this number of periods, the work is late, and an operator must look into it. */
export const LATE_PERIODS = 3;
