interface Work {
  everyMinutes: number;
  /** The maximum number of activities of this kind that run at the same time, for each worker process. */
  lanesPerWorker: number;
}

/** Work that Temporal starts by a schedule, each kind as a workflow of its own. */
export const PERIODIC_WORK = {
  /** Compares Postgres and Temporal, project by project. */
  recovery: { everyMinutes: 5, lanesPerWorker: 2 },
  /** Deletes rows whose retention has ended, table by table. */
  pruning: { everyMinutes: 60, lanesPerWorker: 2 },
  /** Adds up counts. */
  statistics: { everyMinutes: 15, lanesPerWorker: 1 },
  /** Computes tracked segments, project by project. */
  segments: { everyMinutes: 5, lanesPerWorker: 3 },
  /** Checks the DNS records of sender domains, page by page. */
  domains: { everyMinutes: 5, lanesPerWorker: 2 },
} as const satisfies Record<string, Work>;
export type PeriodicKind = keyof typeof PERIODIC_WORK;
export const PERIODIC_KINDS = Object.keys(PERIODIC_WORK) as PeriodicKind[];

/**
 * Activities of periodic work that one worker process runs at the same time: the lanes of all kinds, and one for the
 * activities that start and end a round. A kind never takes more than its own lanes, so a slow kind keeps no other
 * kind waiting.
 */
export const PERIODIC_SLOTS =
  1 + Object.values(PERIODIC_WORK).reduce((sum, { lanesPerWorker }) => sum + lanesPerWorker, 0);

/** The number of periods without an end after which a kind needs an operator. */
export const LATE_PERIODS = 3;
