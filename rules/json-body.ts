import { isBase64 } from './base64.ts';
import { AppError } from './errors.ts';
import { hasTooManyNodes, JSON_MAX_NODES } from './json-nodes.ts';
import { mayNeedNormalizing, normalizeStrings } from './nfc.ts';

/** What is said of more. */
export const TOO_MANY_NODES = `A body holds at most ${JSON_MAX_NODES.toLocaleString('en')} values.`;

const NUMBER_TOO_LARGE = `Numbers beyond ${Number.MAX_SAFE_INTEGER} (2^53 - 1) lose digits: send it as text, in quotes.`;

/** JSON deeper than this is nobody's data; `JSON.stringify` and Postgres would end on their stacks. */
const MAX_DEPTH = 64;
/** What stands in a body where a file was taken out of it: base64, as what it stands for. */
const TAKEN_OUT = 'AAAA';
/** And where what was there is no base64: of megabytes nothing more has to be known. */
const NO_BASE64 = '!';

export interface JsonBodyRules {
  /**
   * The names that lead to the records which each have a file in base64 as their `content`: `['attachments']`, or
   * `['emails', 'attachments']` for those of each email in a list.
   */
  filesAt?: readonly string[] | undefined;
  /** Bytes of the body without those files. */
  maxOtherBytes: number;
}

/** What a body holds, or why it is refused before anybody looks at it. */
export type JsonBody =
  | { fault: 'nodes' | 'size' }
  | {
      fault?: undefined;
      value: unknown;
      unstorable: Unstorable | undefined;
      /**
       * The decoded files, by the index of their records; a hole where one has none. In `value` a word stands in their
       * place.
       */
      files: (Uint8Array | undefined)[];
    };

/**
 * Reads JSON with files in it, and normalizes its texts (see `normalizeStrings`). It takes 10 ms a megabyte, so larger bodies are read in a thread.
 * @throws AppError BAD_REQUEST for what is no JSON
 */
export function readJsonBody(bytes: Uint8Array, { filesAt, maxOtherBytes }: JsonBodyRules): JsonBody {
  if (hasTooManyNodes(bytes)) return { fault: 'nodes' };
  const value = parseJson(bytes);
  const records = filesAt === undefined ? [] : fileRecords(value, filesAt);
  const fileChars = records.reduce((sum, { content }) => sum + (typeof content === 'string' ? content.length : 0), 0);
  if (filesAt !== undefined && bytes.byteLength - fileChars > maxOtherBytes) return { fault: 'size' };
  const unstorable = findUnstorable(value);
  if (unstorable) return { value, unstorable, files: [] };
  const files = records.map(takeFile);
  return { value: mayNeedNormalizing(bytes) ? normalizeStrings(value) : value, unstorable, files };
}

/** The records of a body's files in their order, as they came: each may be anything. */
function fileRecords(body: unknown, [name, ...rest]: readonly string[]): { content?: unknown }[] {
  if (name === undefined) return [isRecord(body) ? body : {}];
  const records: unknown = isRecord(body) ? body[name] : undefined;
  return Array.isArray(records) ? records.flatMap((record: unknown) => fileRecords(record, rest)) : [];
}

function takeFile(record: { content?: unknown }): Uint8Array | undefined {
  const { content } = record;
  if (typeof content !== 'string' || content === '') return undefined;
  const valid = isBase64(content);
  record.content = valid ? TAKEN_OUT : NO_BASE64;
  return valid ? Buffer.from(content, 'base64') : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
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
 * Where a JSON value holds what we cannot keep as it is: a NUL character, half of a surrogate pair, a number beyond 2^53,
 * or nesting without end.
 * Returns the path of the first such place with what is wrong, or undefined. Cheap: native searches over the strings,
 * and it looks at `JSON_MAX_NODES` values at most, wherever the value came from.
 */
export function findUnstorable(value: unknown): Unstorable | undefined {
  return unstorableIn(value, 0, { left: JSON_MAX_NODES });
}

/** What Postgres cannot hold of a value, and where it stands. */
export interface Unstorable {
  path: string[];
  message: string;
}

function unstorableIn(value: unknown, depth: number, nodes: { left: number }): Unstorable | undefined {
  nodes.left -= 1;
  if (nodes.left < 0) return { path: [], message: TOO_MANY_NODES };
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : { path: [], message: 'Must not contain NUL or broken Unicode characters.' };
  }
  if (typeof value === 'number' && !isExactNumber(value)) return { path: [], message: NUMBER_TOO_LARGE };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { path: [], message: `Must not be nested deeper than ${MAX_DEPTH} levels.` };
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) return { path: [], message: 'Names must not contain NUL or broken Unicode characters.' };
    const found = unstorableIn(Reflect.get(value, key), depth + 1, nodes);
    if (found) return { path: [key, ...found.path], message: found.message };
  }
  return undefined;
}

/**
 * False for a number beyond 2^53: JSON allows it, and JavaScript rounds it, so an id of 17 digits would become another's
 * (RFC 8259 §6).
 */
function isExactNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Whether Postgres can hold a text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
