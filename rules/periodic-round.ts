import type { PeriodicKind } from './periodic-work.ts';

/** The options of a round. A round that a schedule starts has none of them. */
export interface RoundRequest {
  /**
   * For recovery only: how many hours back to search for messages that Temporal has lost. A little more than a day by
   * default.
   */
  messagesOfHours?: number;
  /** When the round must end. By default, a round ends after 90 % of its period. */
  deadlineMs?: number;
  /** The round that an earlier run of the Temporal workflow started, and that this run continues. */
  round?: Round;
}

/** The state of a round of periodic work, between two pages of its parts. */
export interface Round {
  /** When the round started, by the clock of Postgres. */
  since: string;
  /**
   * The part at which the last round stopped. This round runs the parts after `start` first, and then the parts from
   * the first one to `start`.
   */
  start: string | null;
  after: string | null;
  wrapped: boolean;
  /** The number of parts that were due when the round started. */
  total: number;
  done: number;
  /** The parts that failed as a whole, and failed details of other parts. */
  failed: string[];
  /** Parts that failed as a whole. The next round runs these parts last. */
  failing: string[];
  /** Parts that took so much time that their page could not end. These parts run last. */
  late: string[];
  /** Parts that failed in the last round, and therefore run last. */
  last: string[];
}

export interface RoundPageRequest {
  kind: PeriodicKind;
  round?: Round | undefined;
}

export interface RoundPage {
  round: Round;
  parts: string[];
  isLast: boolean;
  /** The number of activities that may run at the same time. */
  lanes: number;
}

export interface PartInput {
  kind: PeriodicKind;
  part: string;
  since: string;
  cursor: string | null;
  /** The part starts no new work after this instant. */
  deadlineMs: number;
  messagesOfHours?: number | undefined;
}

export interface PartResult {
  /** The cursor from which the part continues. Null if the part is done. */
  cursor: string | null;
  /** The details that failed, while the rest of the part succeeded. */
  failures: string[];
}

export interface RoundEnd {
  kind: PeriodicKind;
  since: string;
  failing: string[];
  late: string[];
  unfinished: number;
  resumeAfter: string | null;
}
