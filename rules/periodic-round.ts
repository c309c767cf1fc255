import type { PeriodicKind } from './periodic-work.ts';

/** The options of a round; a schedule sets none. */
export interface RoundRequest {
  /**
   * Recovery only: how many hours back to search for messages that Temporal has lost; a little more than a day by
   * default.
   */
  messagesOfHours?: number;
  /** When the round ends at the latest; by default after 90 % of its period. */
  deadlineMs?: number;
  /** A round that an earlier run of this workflow started. */
  round?: Round;
}

/** A round of periodic work, from one page of its parts to the next. */
export interface Round {
  /** Its start, in the time of Postgres. */
  since: string;
  /**
   * The part at which the last round stopped. The round takes the parts after it first, and then the parts from the
   * first one to it.
   */
  start: string | null;
  after: string | null;
  wrapped: boolean;
  /** The number of parts that were due when it started. */
  total: number;
  done: number;
  /** The failed parts and details of parts. */
  failed: string[];
  /** Parts that failed as a whole. The next round runs them last. */
  failing: string[];
  /** Parts that prevented a page from ending, and run last. */
  late: string[];
  /** Parts that failed in the round before, and run last. */
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
  /** Activities that may run at the same time. */
  lanes: number;
}

export interface PartInput {
  kind: PeriodicKind;
  part: string;
  since: string;
  cursor: string | null;
  /** The part starts nothing more after this instant. */
  deadlineMs: number;
  messagesOfHours?: number | undefined;
}

export interface PartResult {
  /** The cursor from which the part continues; null when it is done. */
  cursor: string | null;
  /** The details that failed, although the rest of the part was done. */
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
