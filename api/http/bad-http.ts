import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../../rules/errors.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { errorEnvelope } from './error-handler.ts';

/** Statuses for errors of Node's HTTP parser. All other errors are 400. */
const STATUS_OF: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Responds to malformed HTTP with the usual error envelope, and closes the connection. */
export function respondBadHttp(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[error.code ?? ''] ?? 400;
  const { body, headers } = badRequest(status);
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

/** Responds to a request whose path and host do not form a valid URL. */
export function respondBadRequest(): Response {
  const { body, headers } = badRequest(400);
  return new Response(body, { status: 400, headers });
}

function badRequest(status: number) {
  const requestId = uuidv7();
  const error = new AppError('BAD_REQUEST', { status, message: 'The HTTP request is malformed.' });
  return {
    body: JSON.stringify(errorEnvelope(error, requestId)),
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'x-request-id': requestId },
  };
}
