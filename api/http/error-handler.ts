import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { isConnectionFailure, isOutOfTime, UnknownCommit } from '../../db/postgres-errors.ts';
import { AppError, ERRORS, type ErrorCode, toErrorBody } from '../../rules/errors.ts';
import { describeFailure, readStackFrames, redact } from '../../rules/failure-text.ts';
import type { RequestContext } from './env.ts';
import type { RouteTable } from './route-table.ts';

/** The header of a SERVICE_UNAVAILABLE: callers should retry after 2 s. */
const RETRY_AFTER = { 'Retry-After': '2' };

/**
 * Creates the handler that turns errors into the error envelope. An unexpected error becomes a 500 without its
 * message.
 */
export function createErrorHandler(
  log: Logger,
  table: Pick<RouteTable, 'findListPath' | 'listMethods' | 'findEquivalent'>,
): (error: Error, c: RequestContext) => Response {
  return (error, c) => {
    const appError = toAppError(error);
    const finalError =
      explainWrongMethod(appError, c.req, table) ?? suggestListPath(appError, table.findListPath(c.get('route') ?? ''));
    // The caller chooses the request id, which may therefore contain an email address.
    const logFields = { requestId: redact(c.get('requestId')), route: c.get('route') };
    // Errors below 500 are not logged. An error that the service itself throws has a known cause and needs no stack.
    if (error instanceof AppError && finalError.status >= 500)
      log.warn({ ...logFields, ...finalError.details }, finalError.message);
    else if (finalError.status >= 500)
      log.error({ ...logFields, reason: describeFailure(error), stack: readStackFrames(error) }, 'request failed');
    return respondWithError(c, finalError);
  };
}

/** Responds with the envelope and the headers of an error. */
export function respondWithError(c: RequestContext, error: AppError): Response {
  c.set('errorCode', error.code);
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
  return c.json(toErrorEnvelope(error, c.get('requestId')), error.status as ContentfulStatusCode);
}

/** Returns the envelope that all errors share. Source: contract §1.5 Errors. */
export function toErrorEnvelope(error: AppError, requestId: string) {
  return {
    success: false,
    message: describeError(error),
    error: { requestId, ...toErrorBody(error) },
    timestamp: new Date().toISOString(),
  };
}

/** Returns the message of an error together with its first field error, for clients that show only the message. */
function describeError({ message, errors }: AppError): string {
  const [first] = errors ?? [];
  return !first || message.includes(first.message) ? message : `${message} ${first.field}: ${first.message}`;
}

function toAppError(error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException) return new AppError(toErrorCode(error.status), { cause: error });
  if (error instanceof UnknownCommit) return createUnknownCommitError(error);
  if (isConnectionFailure(error)) return createUnavailableError(error);
  if (isOutOfTime(error)) return createQueryTimeoutError(error);
  return new AppError('INTERNAL_SERVER_ERROR', { cause: error });
}

/**
 * Returns METHOD_NOT_ALLOWED instead of NOT_FOUND if the path exists, but only with other methods. An example is
 * `GET /contacts/import`, which exists only as POST. The router treats `import` as the id of a contact, so its error is
 * NOT_FOUND.
 */
function explainWrongMethod(
  error: AppError,
  { method, path }: { method: string; path: string },
  table: Pick<RouteTable, 'listMethods' | 'findEquivalent'>,
): AppError | undefined {
  if (error.code !== 'NOT_FOUND') return undefined;
  const allowed = table.listMethods(path);
  return allowed.length === 0 || allowed.includes(method)
    ? undefined
    : createMethodNotAllowedError(allowed, table.findEquivalent(method, path));
}

/**
 * Returns the error for a request whose path accepts only other methods.
 * @param intendedOperation the operation that the caller probably means, if it is at another path
 */
export function createMethodNotAllowedError(allowed: readonly string[], intendedOperation?: string): AppError {
  return new AppError('METHOD_NOT_ALLOWED', {
    headers: { Allow: allowed.join(', ') },
    suggestion: intendedOperation ? `Did you mean ${intendedOperation}?` : `Use ${allowed.join(' or ')}.`,
  });
}

/**
 * Returns a NOT_FOUND with the suggestion to read `list`, the path that lists the records. An error that already has a
 * specific suggestion, or another code, is returned unchanged.
 */
function suggestListPath(error: AppError, list: string | undefined): AppError {
  const isGeneral = error.code === 'NOT_FOUND' && error.suggestion === ERRORS.NOT_FOUND.suggestion;
  if (!isGeneral || list === undefined) return error;
  const { message, details, headers } = error;
  return new AppError('NOT_FOUND', {
    message,
    ...(details && { details }),
    headers,
    suggestion: `Check the ids in the request: GET ${list} lists the records of your project. Ids of other projects are not found.`,
    cause: error,
  });
}

function toErrorCode(status: number): Exclude<ErrorCode, 'CONFLICT'> {
  if (status === 404) return 'NOT_FOUND';
  if (status === 413) return 'PAYLOAD_TOO_LARGE';
  if (status === 415) return 'UNSUPPORTED_MEDIA_TYPE';
  return status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR';
}

function createUnavailableError(cause: Error, texts: { message?: string; suggestion?: string } = {}): AppError {
  return new AppError('SERVICE_UNAVAILABLE', { ...texts, headers: RETRY_AFTER, cause });
}

function createUnknownCommitError(cause: UnknownCommit): AppError {
  return createUnavailableError(cause, {
    message: 'The database connection was lost during the commit, so it is unknown whether the request took effect.',
    suggestion:
      'Repeat the request with the same Idempotency-Key: it takes effect only once, and a 409 means that the first request took effect. If you sent no key, first check whether the request took effect.',
  });
}

function createQueryTimeoutError(cause: Error): AppError {
  return createUnavailableError(cause, {
    message: 'The database did not finish the request in time, and the request had no effect.',
    suggestion:
      'Request less: a shorter time span, a smaller page, or a narrower filter. Otherwise retry in a few seconds.',
  });
}
