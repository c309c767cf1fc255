import type { IncomingMessage } from 'node:http';
import { AppError } from '../../domain/errors.ts';
import type { RequestContext } from './env.ts';
import { JSON_MAX_NODES } from './json-nodes.ts';

/** What is said of more. */
export const TOO_MANY_NODES = `A body holds at most ${JSON_MAX_NODES.toLocaleString('en')} values.`;

/** Bodies without their attachments, unless a route says otherwise: more than any record of ours. */
export const JSON_MAX_BYTES = 3 * 1024 * 1024;
/** On the routes of the public key, which stands in every page. */
export const PUBLIC_MAX_BYTES = 64 * 1024;
/** JSON deeper than this is nobody's data; `JSON.stringify` and Postgres would end on their stacks. */
const MAX_DEPTH = 64;

/**
 * The body's bytes, at most `maxBytes`, whether or not the caller said how long it is.
 * @throws AppError PAYLOAD_TOO_LARGE before the rest is read; BAD_REQUEST when the caller hangs up
 */
export async function readBody(c: RequestContext, maxBytes: number): Promise<Uint8Array> {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const incoming = c.env?.incoming;
  // Tests call the application without a server.
  if (!incoming) return withinLimit(new Uint8Array(await c.req.arrayBuffer()), maxBytes);
  return readIncoming(incoming, maxBytes).catch(hungUp);
}

/**
 * Reads by events and not by a stream reader: cancelling one would destroy the socket before the caller has its 413. What is left
 * of a body that is too large is read and dropped, for half a second at most (`autoCleanupIncoming` of the server).
 */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (how: () => void): void => {
      incoming.off('data', take).off('end', end).off('error', fail).off('close', hangUp);
      how();
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else settle(() => reject(tooLarge(maxBytes)));
    };
    const end = (): void => settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const fail = (error: Error): void => settle(() => reject(error));
    const hangUp = (): void => fail(new Error('the caller hung up'));
    if (incoming.readableEnded || incoming.destroyed) return incoming.complete ? end() : hangUp();
    incoming.on('data', take).on('end', end).on('error', fail).on('close', hangUp);
  });
}

function withinLimit(body: Uint8Array, maxBytes: number): Uint8Array {
  if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
  return body;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON that is UTF-8.
 * @throws AppError BAD_REQUEST
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new AppError('BAD_REQUEST', { message: 'The body is not UTF-8 text.' });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('BAD_REQUEST', { message: 'The body is not valid JSON.' });
  }
}

/**
 * Where a JSON value holds what Postgres cannot: a NUL character, half of a surrogate pair, or nesting without end.
 * Returns the path of the first such place with what is wrong, or undefined. Cheap: native searches over the strings, and it looks at
 * `JSON_MAX_NODES` values at most, wherever the value came from.
 */
export function findUnstorable(value: unknown): Unstorable | undefined {
  return unstorableIn(value, 0, { left: JSON_MAX_NODES });
}

interface Unstorable {
  path: string[];
  message: string;
}

function unstorableIn(value: unknown, depth: number, nodes: { left: number }): Unstorable | undefined {
  nodes.left -= 1;
  if (nodes.left < 0) return { path: [], message: TOO_MANY_NODES };
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : { path: [], message: 'Must not contain NUL or broken Unicode characters.' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { path: [], message: `Must not be nested deeper than ${MAX_DEPTH} levels.` };
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) return { path: [], message: 'Names must not contain NUL or broken Unicode characters.' };
    const found = unstorableIn(Reflect.get(value, key), depth + 1, nodes);
    if (found) return { path: [key, ...found.path], message: found.message };
  }
  return undefined;
}

/** Whether Postgres can hold a text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The refusal of a body, in the size that the caller knows it by. */
export function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', {
    message: `The body is larger than ${sizeWords(maxBytes)}.`,
    details: { maxBytes },
  });
}

function sizeWords(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.floor(bytes / 1024)} KB` : `${Math.floor(bytes / 1024 / 1024)} MB`;
}

function hungUp(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw new AppError('BAD_REQUEST', { message: 'The body could not be read to its end.', cause });
}
