/**
 * The last attempt of an email or SMS that waits for its next attempt. Temporal shows this record, so it has codes but
 * no text of the reply.
 */
export interface LastAttempt {
  /** The number of the attempt, starting at 1. */
  attempt: number;
  /**
   * The SMTP code with the enhanced status, such as `450 4.2.1`; or the HTTP status of an SMS provider; or the reason
   * why there was no reply.
   */
  status: string;
  /** The provider, and the address of its server if it has one. */
  route: string;
}

/**
 * A message that waits for its next attempt. `last` is absent in data of an earlier version, or if the first attempt
 * was interrupted.
 */
export interface DeferredMessage {
  id: string;
  /** The time of the next attempt, in ISO 8601. */
  dueAt: string;
  last?: LastAttempt;
}

/** Describes the result of the last attempt in one line. */
export function describeAttempt({ attempt, status, route }: LastAttempt): string {
  return `attempt ${attempt} by ${route}: ${status}`;
}
