import type { PeriodicKind } from './periodic-work.ts';

/** The options of a round; a schedule sets none. */
export interface RoundRequest {
  /** Recovery only: how far back to look for messages that Temporal has lost; a little more than a day unless given. */
  messagesOfHours?: number;
  /** When the round ends at the latest; 0.9 of its period from now unless given. */
  deadlineMs?: number;
  /** A round that an earlier run of this workflow started. */
  round?: Round;
}

/** A round of periodic work, from one page of its parts to the next. */
export interface Round {
  /** Its start, in the time of Postgres. */
  since: string;
  /** The round takes the parts after this one to the last one, and then those from the first one to this one. */
  start: string | null;
  after: string | null;
  wrapped: boolean;
  /** The number of parts that were due when it started. */
  total: number;
  done: number;
  /** The parts, and details of them, that failed. */
  failed: string[];
  /** Parts that failed as a whole. The next round runs them last. */
  failing: string[];
  /** Parts that kept a page from its end, and run last. */
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
  /** The details that failed, while the rest of the part was done. */
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
