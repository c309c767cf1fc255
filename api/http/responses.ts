import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../../rules/errors.ts';
import { EXAMPLE_ID } from './schemas.ts';

export const ErrorEnvelope = z
  .object({
    success: z.literal(false),
    message: z.string().optional().openapi({ description: 'The message of `error`, and the first of its `errors`' }),
    error: z.object({
      code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      statusCode: z.number().int(),
      requestId: z.string(),
      errors: z.array(z.object({ field: z.string(), message: z.string(), code: z.string() })).optional(),
      details: z.record(z.string(), z.unknown()).optional(),
      suggestion: z.string().optional(),
    }),
    timestamp: z.iso.datetime(),
  })
  .openapi('Error', { description: 'Every error of this service has this form.' });

/** Declares the JSON body of a request. An `optional` body may be omitted, and is then `{}`. */
export function jsonBody<S extends z.ZodType>(schema: S, options: { optional?: boolean } = {}) {
  return { required: !options.optional, content: { 'application/json': { schema } } };
}

/** Declares the multipart/form-data body of a request. */
export function multipartBody<S extends z.ZodType>(schema: S) {
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

/** Declares a JSON response of an operation. The status is the key under which `responses` has it. */
export function jsonResponse<S extends z.ZodType>(schema: S, description = 'Success') {
  return { description, content: { 'application/json': { schema } } };
}

/** Declares a response without a body (204). */
export function emptyResponse(description = 'Done') {
  return { description };
}

/** The property of an error response in the OpenAPI document that lists its error codes. */
export const ERROR_CODES_KEY = 'x-error-codes';

/**
 * Declares the error responses of an operation by their codes, for the OpenAPI document. Spread the result into
 * `responses`. The registrar adds errors that follow from the credentials, parameters and body of the route (401, 403,
 * 422, 429 …). The return type is empty, because handlers throw errors, so the type of a handler must contain only the
 * success responses.
 */
// biome-ignore lint/complexity/noBannedTypes: the empty type is the point, see above
export function errorResponses(...codes: ErrorCode[]): {} {
  return declareErrorResponses(codes);
}

/**
 * Returns error responses by status, with `codes` and the codes of the error responses in `declared`. `invalid` has the
 * statuses of VALIDATION_ERROR. Any other code has its status in `ERRORS`.
 */
export function declareErrorResponses(
  codes: readonly ErrorCode[],
  declared: object = {},
  invalid: readonly number[] = [ERRORS.VALIDATION_ERROR.status],
): Record<string, object> {
  const byStatus = new Map<string, Set<ErrorCode>>();
  const add = (status: string, code: ErrorCode) => byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  for (const [status, response] of Object.entries(declared)) {
    for (const code of readErrorCodes(response)) add(status, code);
  }
  for (const code of codes) {
    const statuses = code === 'VALIDATION_ERROR' ? invalid : [ERRORS[code].status];
    for (const status of statuses) add(String(status), code);
  }
  return Object.fromEntries([...byStatus].map(([status, set]) => [status, declareErrorResponse(Number(status), set)]));
}

function readErrorCodes(response: unknown): ErrorCode[] {
  const codes = typeof response === 'object' && response !== null ? Reflect.get(response, ERROR_CODES_KEY) : undefined;
  return Array.isArray(codes) ? codes : [];
}

/**
 * Returns the error response of one status. The codes are in the order of `ERRORS`, so equal sets of codes give equal
 * responses.
 */
function declareErrorResponse(status: number, errorCodes: ReadonlySet<ErrorCode>) {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => errorCodes.has(code));
  const examples = Object.fromEntries(codes.map((code) => [code, { value: createErrorExample(code, status) }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(' '),
    [ERROR_CODES_KEY]: codes,
    content: { 'application/json': { schema: ErrorEnvelope, examples } },
  };
}

/** An error response in the OpenAPI document. */
export interface ErrorResponse {
  description: string;
  [ERROR_CODES_KEY]: ErrorCode[];
  content: { 'application/json': { schema: { $ref: string }; examples: Record<string, { value: ErrorExample }> } };
}

/** Returns the error response of a range of statuses, such as `4XX`, for the OpenAPI document. */
export function declareRangeResponse(codes: ErrorCode[]): ErrorResponse {
  const examples = Object.fromEntries(
    codes.map((code) => [code, { value: createErrorExample(code, ERRORS[code].status) }]),
  );
  return {
    description: codes.map((code) => `${formatStatusesOfError(code)} \`${code}\`: ${ERRORS[code].message}`).join(' '),
    [ERROR_CODES_KEY]: codes,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  };
}

/** Returns the statuses of an error in any operation, as text. Source: contract §1.7 Status codes. */
function formatStatusesOfError(code: ErrorCode): string {
  return code === 'VALIDATION_ERROR' ? '400 (of the query) or 422' : String(ERRORS[code].status);
}

type ErrorExample = ReturnType<typeof createErrorExample>;

function createErrorExample(code: ErrorCode, status: number) {
  const faults = [{ field: 'email', message: 'Required', code: 'invalid_type' }];
  return {
    success: false,
    error: {
      code,
      message: ERRORS[code].message,
      statusCode: status,
      requestId: EXAMPLE_ID,
      ...(code === 'VALIDATION_ERROR' && { errors: faults }),
      suggestion: ERRORS[code].suggestion,
    },
    timestamp: '2026-01-01T12:00:00.000Z',
  };
}
