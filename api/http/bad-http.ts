import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../../rules/errors.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { toErrorEnvelope } from './error-handler.ts';

/**
 * Responses to requests that Node's HTTP server rejects, by the error code of Node. A request with any other code gets
 * a 400.
 */
const ERROR_RESPONSES: Record<string, ErrorContent> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'The URL and the headers are too large.',
    suggestion: 'Shorten the URL and the headers to 16 KB together.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};
const MALFORMED: ErrorContent = { status: 400, message: 'The HTTP request is malformed.' };

interface ErrorContent {
  status: number;
  message: string;
  suggestion?: string;
}

/**
 * Responds with the usual error envelope to a request that Node's HTTP server rejects, and closes the connection.
 * Sends no response if the client has closed the connection.
 */
export function respondToMalformedHttp(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const content = ERROR_RESPONSES[error.code ?? ''] ?? MALFORMED;
  const { status } = content;
  const { body, headers } = formatBadRequest(content);
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

/** Returns the response to a request whose path and host do not form a valid URL. */
export function createBadUrlResponse(): Response {
  const { body, headers } = formatBadRequest(MALFORMED);
  return new Response(body, { status: 400, headers });
}

function formatBadRequest(content: ErrorContent) {
  const requestId = uuidv7();
  const error = new AppError('BAD_REQUEST', content);
  return {
    body: JSON.stringify(toErrorEnvelope(error, requestId)),
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'x-request-id': requestId },
  };
}
