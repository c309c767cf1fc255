/** An error of one field of the request. */
export interface ApiFieldError {
  field: string;
  message: string;
  code?: string;
}

/** An error response of the API, with its message. */
export class ApiFailure extends Error {
  readonly status: number;
  /** Code of the error catalog, such as `VALIDATION_ERROR`. */
  readonly code: string;
  readonly suggestion: string | undefined;
  /** The request id, by which an operator finds the request in the log. */
  readonly requestId: string | undefined;
  readonly fields: ApiFieldError[];
  readonly details: Record<string, unknown>;

  constructor(failure: {
    status: number;
    code: string;
    message: string;
    suggestion?: string | undefined;
    requestId?: string | undefined;
    fields?: ApiFieldError[];
    details?: Record<string, unknown>;
  }) {
    super(failure.message);
    this.name = 'ApiFailure';
    this.status = failure.status;
    this.code = failure.code;
    this.suggestion = failure.suggestion;
    this.requestId = failure.requestId;
    this.fields = failure.fields ?? [];
    this.details = failure.details ?? {};
  }
}

/**
 * Reads the failure from an error response. If the body is not an error of the API, such as a proxy's page, the failure
 * has the code `HTTP_<status>`.
 */
export async function readFailure(response: Response): Promise<ApiFailure> {
  const { status } = response;
  const body = (await response.json().catch(() => undefined)) as { error?: Record<string, unknown> } | undefined;
  const error = body?.error;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  if (!error) {
    return new ApiFailure({
      status,
      code: `HTTP_${status}`,
      message: `The service responded with status ${status}.`,
      requestId,
    });
  }
  return new ApiFailure({
    status,
    code: String(error.code),
    message: String(error.message),
    suggestion: typeof error.suggestion === 'string' ? error.suggestion : undefined,
    requestId: typeof error.requestId === 'string' ? error.requestId : requestId,
    fields: Array.isArray(error.errors) ? (error.errors as ApiFieldError[]) : [],
    details: (error.details as Record<string, unknown> | undefined) ?? {},
  });
}

/** Returns the failure for a request that got no response. */
export function createUnreachableFailure(): ApiFailure {
  return new ApiFailure({
    status: 0,
    code: 'UNREACHABLE',
    message: 'The service does not respond.',
  });
}
