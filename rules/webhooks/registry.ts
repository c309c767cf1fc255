import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks: `whsec_` and the base64 of the key. */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/**
 * Seconds until each retry: eight attempts over 24 hours. The first retry comes within a minute, the last one after 15
 * hours.
 */
export const RETRY_SECONDS = [30, 120, 600, 1_800, 7_200, 21_600, 54_000] as const;
export const MAX_TRIES = RETRY_SECONDS.length + 1;
/** After this many consecutive failures, an endpoint gets one delivery at a time until one succeeds. */
export const DEGRADED_AFTER_FAILURES = 10;
/** An endpoint that has only failed for this long is disabled, and its owner is notified. */
export const DISABLED_AFTER_DAYS = 5;
/** After a rotation both secrets sign for this long. */
export const ROTATION_HOURS = 24;

export function newWebhookSecret(): string {
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
  /** The same on every attempt, so that a receiver can recognize a repetition. */
  id: string;
  /** Seconds since 1970. */
  timestamp: number;
  body: string;
}

/**
 * Returns the headers of Standard Webhooks, with one signature per secret, so that a receiver may use either secret
 * during a rotation.
 */
export function webhookHeaders(
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

/** Conclusion from a series of attempts about an endpoint. */
export interface EndpointVerdict {
  /** Whether at least one of them succeeded. */
  succeeded: boolean;
  /** The number of failures since the last success. */
  failures: number;
  /** True if a response was 410: the endpoint no longer exists. */
  gone: boolean;
}

/** Sums up attempts, in the order of their ends. */
export function verdictOf(outcomes: readonly WebhookOutcome[]): EndpointVerdict {
  const lastSuccess = outcomes.lastIndexOf('success');
  return {
    succeeded: lastSuccess >= 0,
    failures: outcomes.length - 1 - lastSuccess,
    gone: outcomes.includes('gone'),
  };
}
