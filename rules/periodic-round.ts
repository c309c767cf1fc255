import type { PeriodicKind } from './periodic-work.ts';

/** The argument of a round's workflow. All fields are absent in the first run of a round that a schedule starts. */
export interface RoundRequest {
  /**
   * For recovery only: how many hours back to search for messages that Temporal has lost. 26 hours by default
   * (`MESSAGES_HOURS`).
   */
  messagesOfHours?: number;
  /** When the round must end, in milliseconds since 1970. By default, a round ends after 90 % of its period. */
  deadlineMs?: number;
  /** The round that an earlier run of the Temporal workflow started, and that this run continues. */
  round?: Round;
}

/** The state of a round of periodic work, between two pages of its parts. A page has at most 1,000 parts. */
export interface Round {
  /** When the round started. This is a time of Postgres. */
  since: string;
  /**
   * The part at which the previous round stopped. This round runs the parts after `start` first, and then the parts
   * from the first one to `start`. Null if the previous round started all its parts.
   */
  start: string | null;
  /** The last part of the previous page. The next page starts with the part after it. */
  after: string | null;
  /** True if the round has reached the last part, and has continued with the first one. */
  wrapped: boolean;
  /** The number of parts that were due when the round started. */
  total: number;
  done: number;
  /** The names of the parts that failed, and `<part>: <item>` for each item that failed in another part. */
  failed: string[];
  /** The parts that failed. The next round runs these parts last. */
  failing: string[];
  /** The parts that were cancelled because their page waited only for them. They run again on the round's last page. */
  late: string[];
  /** The parts that failed or did not end in the previous round, and therefore run last in this round. */
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
  /** The number of parts that may run at the same time, each as one activity. */
  lanes: number;
}

export interface PartInput {
  kind: PeriodicKind;
  part: string;
  since: string;
  cursor: string | null;
  /** The part starts no new work after this instant, in milliseconds since 1970. */
  deadlineMs: number;
  messagesOfHours?: number | undefined;
}

export interface PartResult {
  /** The cursor from which the part continues. Null if the part is done. */
  cursor: string | null;
  /** The items of the part that failed. The part continued with its other items. */
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
