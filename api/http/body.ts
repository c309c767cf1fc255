import type { IncomingMessage } from 'node:http';
import { AppError } from '../../rules/errors.ts';
import type { RequestContext } from './env.ts';

/**
 * Maximum size of a body without its files, unless a route sets another limit. No record of the service is this large.
 */
export const JSON_MAX_BYTES = 3 * 1024 * 1024;
/** Maximum size of a body on routes that accept the public key, which anyone can read from a web page. */
export const PUBLIC_MAX_BYTES = 64 * 1024;

/**
 * Returns the bytes of the body. Enforces `maxBytes` with and without a Content-Length.
 * @throws AppError PAYLOAD_TOO_LARGE as soon as the body exceeds the limit; BAD_REQUEST if the body cannot be read to
 * its end, for example because the caller disconnects
 */
export async function readBody(c: RequestContext, maxBytes: number): Promise<Uint8Array> {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw createTooLargeError(maxBytes);
  const incoming = c.env?.incoming;
  // Tests call the application without a server.
  if (!incoming) return requireWithinLimit(new Uint8Array(await c.req.arrayBuffer()), maxBytes);
  return readIncoming(incoming, maxBytes).catch(throwReadError);
}

/**
 * Reads the body with `data` events instead of a stream reader, because cancelling a reader would destroy the socket
 * before the caller gets the 413. The server reads and discards the rest of a body that is too large, for at most half
 * a second (`autoCleanupIncoming` of the server).
 */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (action: () => void): void => {
      incoming.off('data', take).off('end', end).off('error', fail).off('close', hangUp);
      action();
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else settle(() => reject(createTooLargeError(maxBytes)));
    };
    const end = (): void => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const fail = (error: Error): void => settle(() => reject(error));
    const hangUp = (): void => fail(new Error('the caller hung up'));
    if (incoming.readableEnded || incoming.destroyed) return incoming.complete ? end() : hangUp();
    incoming.on('data', take).on('end', end).on('error', fail).on('close', hangUp);
  });
}

function requireWithinLimit(body: Uint8Array, maxBytes: number): Uint8Array {
  if (body.byteLength > maxBytes) throw createTooLargeError(maxBytes);
  return body;
}

/** Returns the error for a body that is too large, with the limit in a readable unit. */
export function createTooLargeError(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', {
    message: `The body is larger than ${formatSize(maxBytes)}.`,
    details: { maxBytes },
  });
}

function formatSize(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.floor(bytes / 1024)} KB` : `${Math.floor(bytes / 1024 / 1024)} MB`;
}

/** Throws the error of a read: an `AppError` unchanged, any other error as BAD_REQUEST. */
function throwReadError(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw new AppError('BAD_REQUEST', { message: 'The body could not be read completely.', cause });
}
