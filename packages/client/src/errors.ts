import type { ErrorEnvelope } from './operations.generated.ts';

/** A code of the service's error catalogue (docs/errors.md). A newer service may have other codes. */
export type ErrorCode = ErrorEnvelope['error']['code'] | (string & {});

/** The state of the project's rate limit, from the `RateLimit-*` headers of a response. */
export interface RateLimit {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/** An error response of the service. Use `code` to handle specific errors. */
export class TidingsError extends Error {
  override readonly name: string = 'TidingsError';
  readonly code: ErrorCode;
  readonly status: number;
  /**
   * The id of the request in the service's log. Undefined if the response has no id, like most responses of proxies.
   */
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** Seconds to wait before a retry, if the service gives them. */
  readonly retryAfterSeconds: number | undefined;
  readonly errors: { field: string; message: string; code: string }[];
  readonly details: Record<string, unknown>;
  readonly suggestion: string | undefined;

  constructor(response: Response, body: unknown) {
    const error = readErrorFromEnvelope(body);
    super(error?.message ?? `HTTP ${response.status}`);
    this.code = error?.code ?? 'UNKNOWN';
    this.status = response.status;
    this.requestId = error?.requestId ?? response.headers.get('x-request-id') ?? undefined;
    this.rateLimit = readRateLimit(response.headers);
    this.retryAfterSeconds = readNumber(response.headers, 'retry-after');
    this.errors = error?.errors ?? [];
    this.details = error?.details ?? {};
    this.suggestion = error?.suggestion;
  }
}

/**
 * No response arrived. The request may or may not have taken effect. A retry is safe if the request had an idempotency
 * key.
 */
export class TidingsConnectionError extends Error {
  override readonly name: string = 'TidingsConnectionError';
}

/** Reads the `RateLimit-*` headers of a response. Undefined if one of them is missing. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const limit = readNumber(headers, 'ratelimit-limit');
  const remaining = readNumber(headers, 'ratelimit-remaining');
  const resetSeconds = readNumber(headers, 'ratelimit-reset');
  if (limit === undefined || remaining === undefined || resetSeconds === undefined) return undefined;
  return { limit, remaining, resetSeconds };
}

function readNumber(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  const value = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function readErrorFromEnvelope(body: unknown): ErrorEnvelope['error'] | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error ? (error as ErrorEnvelope['error']) : undefined;
}
