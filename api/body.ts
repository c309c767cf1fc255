import { AppError } from '../domain/errors.ts';
import type { RequestContext } from './env.ts';

/** JSON bodies, unless a route says otherwise: far more than any record of ours. */
export const JSON_MAX_BYTES = 1024 * 1024;
/** JSON deeper than this is nobody's data; `JSON.stringify` and Postgres would end on their stacks. */
const MAX_DEPTH = 64;

/**
 * The body's bytes, at most `maxBytes`, whether or not the caller said how long it is.
 * @throws AppError PAYLOAD_TOO_LARGE before the rest is read; BAD_REQUEST when the caller hangs up
 */
export async function readBody(c: RequestContext, maxBytes: number): Promise<ArrayBuffer | Uint8Array> {
  const announced = c.req.header('content-length');
  if (announced !== undefined) {
    if (Number(announced) > maxBytes) throw tooLarge(maxBytes);
    return c.req.arrayBuffer().catch(hungUp);
  }
  if (c.req.header('transfer-encoding') === undefined && c.env?.incoming) return new Uint8Array();
  return readStream(c, maxBytes);
}

async function readStream(c: RequestContext, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = c.req.raw.body?.getReader();
  for (;;) {
    const part = await reader?.read().catch(hungUp);
    if (!part || part.done) return Buffer.concat(chunks);
    bytes += part.value.byteLength;
    if (bytes > maxBytes) {
      reader?.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    chunks.push(part.value);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON that is UTF-8.
 * @throws AppError BAD_REQUEST
 */
export function parseJson(bytes: ArrayBuffer | Uint8Array): unknown {
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
 * Returns the path of the first such place with what is wrong, or undefined. Cheap: native searches over the strings.
 */
export function findUnstorable(value: unknown, depth = 0): { path: string[]; message: string } | undefined {
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : { path: [], message: 'Must not contain NUL or broken Unicode characters.' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { path: [], message: `Must not be nested deeper than ${MAX_DEPTH} levels.` };
  for (const [key, member] of Object.entries(value)) {
    if (!isStorable(key)) return { path: [], message: 'Names must not contain NUL or broken Unicode characters.' };
    const found = findUnstorable(member, depth + 1);
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
    message: `The body is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB.`,
    details: { maxBytes },
  });
}

function hungUp(cause: unknown): never {
  throw new AppError('BAD_REQUEST', { message: 'The body could not be read to its end.', cause });
}
