/**
 * All error codes of the API, each with its HTTP status, default message and default `suggestion`. Source: contract
 * §1.5 Errors. A test compares this list with `docs/errors.md` and the OpenAPI document.
 */
export const ERRORS = {
  BAD_REQUEST: {
    status: 400,
    message: 'The request could not be understood.',
    suggestion: 'Check that the body is valid JSON and that query values have the documented form.',
  },
  DOMAIN_NOT_VERIFIED: {
    status: 400,
    message: 'The sender address is not on a verified domain of this project.',
    suggestion: 'Register the domain with POST /domains, publish its DNS records, and send from an address on it.',
  },
  CONTACT_UNSUBSCRIBED: {
    status: 400,
    message: 'A marketing template cannot be sent to an unsubscribed contact.',
    suggestion: 'Send a TRANSACTIONAL template, or pass subscribed: true if the contact has agreed to it.',
  },
  NO_SMS_SENDER: {
    status: 400,
    message: 'No SMS sender is registered for this country.',
    suggestion: 'Add a sender for the country, or a default one, with POST /sms/senders.',
  },
  UNAUTHORIZED: {
    status: 401,
    message: 'This endpoint needs credentials.',
    suggestion: 'Send the key as "Authorization: Bearer <key>", or sign in.',
  },
  INVALID_API_KEY: {
    status: 401,
    message: 'The API key is unknown, expired, revoked, or of a type that this endpoint does not accept.',
    suggestion: 'Use a current secret key; the public key works only on /v1/track, /v1/pixel and /v1/back-in-stock.',
  },
  FORBIDDEN: {
    status: 403,
    message: 'These credentials do not permit this.',
    suggestion: 'Use a key or a role with the scope named in details.requiredScope.',
  },
  PROJECT_DISABLED: {
    status: 403,
    message: 'The project is disabled: it can be read, but not changed.',
    suggestion: 'Ask the operator of this service to enable the project.',
  },
  SMS_NOT_ENABLED: {
    status: 403,
    message: 'SMS is not enabled on this deployment.',
    suggestion: 'Set SMS_PROVIDER on the API and the workers.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'This resource does not exist.',
    suggestion: 'Check the path and the id; an id of another project is not found either.',
  },
  TEMPLATE_NOT_FOUND: {
    status: 404,
    message: 'No template of this project has this id.',
    suggestion: 'List the templates with GET /v1/templates.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This path does not support this method.',
    suggestion: 'Use one of the methods in the Allow header.',
  },
  CONFLICT: {
    status: 409,
    message: 'The current state of the resource does not allow this.',
    suggestion: 'The suggestion of each response says what to do; details has the state.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'An earlier request used this Idempotency-Key.',
    suggestion:
      'If details.sameRequest is true, take the result from details.originalResponse. Otherwise use a new key.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The request is too large.',
    suggestion:
      'details.maxBytes has the limit. Defaults: 10 MB of decoded attachments, 16 MB per request with them, 3 MB without, 5 MB for a CSV file, 8 MB for a project document.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The content type is not supported here.',
    suggestion: 'Send Content-Type: application/json (multipart/form-data for an import).',
  },
  VALIDATION_ERROR: {
    status: 422,
    message: 'The request is not valid.',
    suggestion: 'Correct the fields listed in errors.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: 'Too many requests.',
    suggestion: 'Wait for the seconds in the Retry-After header, then retry.',
  },
  BILLING_LIMIT_EXCEEDED: {
    status: 429,
    message: 'The monthly email limit of this project is reached.',
    suggestion:
      'Raise monthlyEmailLimit with PATCH /project, or wait for the next month. If the operator set the limit, ask them.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    message: 'Something went wrong on our side.',
    suggestion: 'Retry. If the error continues, report it with the requestId.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'Part of the service is not reachable at the moment.',
    suggestion: 'Retry in a few seconds.',
  },
} as const satisfies Record<string, { status: number; message: string; suggestion: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** An error of one field. `field` is a dotted path such as `attachments.0.filename`. */
export interface FieldError {
  field: string;
  message: string;
  code: string;
}

export interface AppErrorOptions {
  message?: string;
  /**
   * The HTTP status, if it differs from the default status of the code. On some endpoints, VALIDATION_ERROR is 400
   * (contract §1.7 Status codes).
   */
  status?: number;
  details?: Record<string, unknown>;
  errors?: FieldError[];
  suggestion?: string;
  headers?: Record<string, string>;
  cause?: unknown;
}

export type ConflictOptions = AppErrorOptions & { message: string; suggestion: string };

/**
 * An error that the response shows to the caller. `api/http/error-handler.ts` converts errors of Hono and of the
 * connection to Postgres to an AppError. Any other error becomes INTERNAL_SERVER_ERROR, without its message.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly errors: FieldError[] | undefined;
  readonly suggestion: string;
  readonly headers: Record<string, string>;

  /**
   * The message of a conflict must name the state that forbids the request, and its suggestion must name the remedy.
   */
  constructor(code: ErrorCode, options: ConflictOptions);
  constructor(code: Exclude<ErrorCode, 'CONFLICT'>, options?: AppErrorOptions);
  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = options.status ?? ERRORS[code].status;
    this.details = options.details;
    this.errors = options.errors;
    this.suggestion = options.suggestion ?? ERRORS[code].suggestion;
    this.headers = options.headers ?? {};
  }
}

/** The body of an error response, without the id of the request. Source: contract §1.5 Errors. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  statusCode: number;
  errors?: FieldError[];
  details?: Record<string, unknown>;
  suggestion: string;
}

/**
 * Converts an error to the form that responses have, for the whole request or for one email of a batch. Source:
 * contract §1.5 Errors.
 */
export function toErrorBody({ code, message, status, errors, details, suggestion }: AppError): ErrorBody {
  return { code, message, statusCode: status, ...(errors && { errors }), ...(details && { details }), suggestion };
}

/** The caller has reached a limit. The header `Retry-After` says when to retry, at the earliest after one second. */
export class LimitReached extends AppError {
  readonly retryAfterMs: number;

  /** @param p.retryAfterMs the time until the limit may allow a request again */
  constructor(p: AppErrorOptions & { message: string; retryAfterMs: number }) {
    const retryAfterSeconds = Math.max(1, Math.ceil(p.retryAfterMs / 1_000));
    super('RATE_LIMIT_EXCEEDED', {
      ...p,
      details: { ...p.details, retryAfterSeconds },
      headers: { ...p.headers, 'Retry-After': String(retryAfterSeconds) },
    });
    this.retryAfterMs = Math.max(1, Math.ceil(p.retryAfterMs));
  }
}

/**
 * Returns the VALIDATION_ERROR for query parameters. Its status is 400, not 422 as for most errors in a body.
 * Source: contract §1.7 Status codes.
 */
export function createQueryError(errors: FieldError[], suggestion?: string): AppError {
  const first = errors[0];
  return new AppError('VALIDATION_ERROR', {
    status: 400,
    errors,
    message: `Query parameter ${first?.field ?? ''}: ${first?.message ?? ''}`,
    suggestion: suggestion ?? 'Correct the query parameters listed in errors.',
  });
}

/** Returns the VALIDATION_ERROR for a single field. */
export function createFieldError(field: string, message: string, code = 'custom'): AppError {
  return new AppError('VALIDATION_ERROR', { errors: [{ field, message, code }] });
}
