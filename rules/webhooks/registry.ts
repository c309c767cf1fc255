import { createHmac, randomBytes } from 'node:crypto';

/** The prefix of a secret, by the specification Standard Webhooks. The base64 of the key follows. */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/**
 * The seconds before each retry, which result in eight attempts over 24 hours. The first retry is within a minute, and
 * the last one 15 hours after the attempt before it.
 */
export const RETRY_SECONDS = [30, 120, 600, 1_800, 7_200, 21_600, 54_000] as const;
export const MAX_ATTEMPTS = RETRY_SECONDS.length + 1;
/** After this number of consecutive failures, an endpoint gets only one delivery at a time, until one succeeds. */
export const DEGRADED_AFTER_FAILURES = 10;
/**
 * An endpoint is disabled, and the project's owners are notified, if every attempt has failed for this time, and at least
 * `DEGRADED_AFTER_FAILURES` attempts.
 */
export const DISABLED_AFTER_DAYS = 5;
/** After a rotation, deliveries are signed with both secrets for this time. */
export const ROTATION_HOURS = 24;

export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * Tells whether an endpoint subscribes to an event: by its name, by `email.*` (every name that starts with `email.`),
 * or by `*`.
 */
export function matchesEvent(patterns: readonly string[], eventName: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? eventName.startsWith(pattern.slice(0, -1)) : pattern === eventName,
  );
}

export interface SignedWebhook {
  /** The id of the delivery. The id is the same for every attempt, so that a receiver can recognize a repetition. */
  id: string;
  /** The time of the attempt, in seconds since 1970. */
  timestamp: number;
  body: string;
}

/**
 * Returns the headers of Standard Webhooks, with one signature per secret, so that a receiver may use either secret
 * during a rotation.
 */
export function createWebhookHeaders(
  secrets: readonly string[],
  { id, timestamp, body }: SignedWebhook,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}

/** Returns when to retry a delivery that failed `attempts` times. Null after the last attempt. */
export function nextAttemptAt(attempts: number, now: Date): Date | null {
  const seconds = RETRY_SECONDS[attempts - 1];
  return seconds === undefined ? null : new Date(now.getTime() + seconds * 1_000);
}

export type WebhookOutcome = 'success' | 'failure' | 'gone';

/** The summary of a series of attempts to deliver to an endpoint. */
export interface EndpointVerdict {
  /** True if at least one attempt succeeded. */
  succeeded: boolean;
  /** The number of failures since the last success. */
  failures: number;
  /** True if a response was 410: the endpoint no longer exists. */
  gone: boolean;
}

/** Summarizes the outcomes of attempts, which are in the order in which the attempts ended. */
export function summarizeOutcomes(outcomes: readonly WebhookOutcome[]): EndpointVerdict {
  const lastSuccess = outcomes.lastIndexOf('success');
  return {
    succeeded: lastSuccess >= 0,
    failures: outcomes.length - 1 - lastSuccess,
    gone: outcomes.includes('gone'),
  };
}
