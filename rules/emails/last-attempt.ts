/** The last attempt of an email or SMS that waits for its next one. Temporal shows it, so it has codes and no reply. */
export interface LastAttempt {
  /** Counts from 1. */
  attempt: number;
  /** SMTP code and enhanced status, such as `450 4.2.1`, HTTP status of an SMS provider, or why no reply came. */
  status: string;
  /** The provider, and the address of its server if it has one. */
  route: string;
}

/**
 * A message that waits for its next attempt. `last` is absent in an earlier version, or if the first attempt was
 * interrupted.
 */
export interface DeferredMessage {
  id: string;
  /** ISO 8601. */
  dueAt: string;
  last?: LastAttempt;
}

/** Says how the last attempt went. */
export function describeAttempt({ attempt, status, route }: LastAttempt): string {
  return `attempt ${attempt} by ${route}: ${status}`;
}
