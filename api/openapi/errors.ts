import { ERRORS, type ErrorCode } from '../../rules/errors.ts';
import { declareRangeResponse, ERROR_CODES_KEY, type ErrorResponse } from '../http/responses.ts';
import { type Document, findAliases, listOperations, type OpenApiOperation, type OpenApiPart } from './json.ts';

/**
 * Errors that any operation may return because of its credentials, its limits or the form of the request. The document
 * declares them at the ranges `4XX` and `5XX`. A status of an operation is declared separately only if it has an error
 * that is not in this list. In OpenAPI, a status takes precedence over its range.
 */
const ERRORS_OF_ANY_OPERATION: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'PROJECT_DISABLED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
];

/** An error response with one set of codes, and the operations that declare it for one status. */
interface ErrorGroup {
  status: string;
  response: ErrorResponse;
  operations: OpenApiOperation[];
}

/**
 * Replaces error responses by references, and returns the shared responses and their examples. A shared response is
 * named after its status, such as `404`. If responses with one status have different codes, only the most frequent set
 * of codes gets this name. The names of the other sets append their codes to the status. An operation with two paths
 * declares its errors at the path under `/v1`.
 */
export function shareErrors(document: Document): { responses: Record<string, OpenApiPart>; examples: object } {
  const aliases = findAliases(document);
  const groups = new Map<string, ErrorGroup>();
  for (const operation of listOperations(document)) {
    replaceByRanges(operation, aliases.has(operation));
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!isError(response)) continue;
      const key = `${status} ${response[ERROR_CODES_KEY].join(' ')}`;
      const group = groups.get(key) ?? { status, response, operations: [] };
      group.operations.push(operation);
      groups.set(key, group);
    }
  }
  const examples: Record<string, unknown> = {};
  const responses: Record<string, OpenApiPart> = {};
  for (const { status, response, operations } of [...groups.values()].sort(compareByUseCount)) {
    const name = status in responses ? [status, ...response[ERROR_CODES_KEY]].join('-') : status;
    responses[name] = withSharedExamples(response, examples);
    for (const operation of operations) operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return { responses, examples };
}

function compareByUseCount(a: ErrorGroup, b: ErrorGroup): number {
  return b.operations.length - a.operations.length;
}

function isError(response: OpenApiPart): response is ErrorResponse {
  return ERROR_CODES_KEY in response;
}

/**
 * Replaces an error response by its range, `4XX` or `5XX`, if all its errors are in `ERRORS_OF_ANY_OPERATION`. An alias
 * declares only `4XX`.
 */
function replaceByRanges(operation: OpenApiOperation, isAlias: boolean): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!isError(response)) continue;
    if (!isAlias && !response[ERROR_CODES_KEY].every((code) => isErrorOfAnyOperation(code, status))) continue;
    delete operation.responses[status];
    const range = status.startsWith('4') ? '4XX' : '5XX';
    if (range === '4XX' || !isAlias) operation.responses[range] = RANGES[range];
  }
}

function isErrorOfAnyOperation(code: ErrorCode, status: string): boolean {
  const isOfQuery = code === 'VALIDATION_ERROR' && status === '400';
  return ERRORS_OF_ANY_OPERATION.includes(code) && (isOfQuery || ERRORS[code].status === Number(status));
}

const RANGES = {
  '4XX': declareRangeResponse(ERRORS_OF_ANY_OPERATION.filter((code) => ERRORS[code].status < 500)),
  '5XX': declareRangeResponse(ERRORS_OF_ANY_OPERATION.filter((code) => ERRORS[code].status >= 500)),
};

function withSharedExamples(response: ErrorResponse, shared: Record<string, unknown>): ErrorResponse {
  const content = response.content['application/json'];
  const references = Object.entries(content.examples).map(([code, example]) => {
    const { statusCode } = example.value.error;
    const name = ERRORS[code as ErrorCode].status === statusCode ? code : `${code}_${statusCode}`;
    shared[name] = example;
    return [code, { $ref: `#/components/examples/${name}` }];
  });
  return { ...response, content: { 'application/json': { ...content, examples: Object.fromEntries(references) } } };
}
