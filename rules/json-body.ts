import { isBase64 } from './base64.ts';
import { AppError } from './errors.ts';
import { countMembers, findRepeatedName, JSON_MAX_NODES } from './json-nodes.ts';
import { mayNeedNormalizing, normalizeStrings } from './nfc.ts';

/** The error message for a body with too many values. */
export const TOO_MANY_NODES = `A body holds at most ${JSON_MAX_NODES.toLocaleString('en')} values.`;

/** The error message for a field that a body has twice. */
export const REPEATED_NAME = 'The field is there twice. Remove one.';

const NUMBER_TOO_LARGE = `Numbers beyond ${Number.MAX_SAFE_INTEGER} (2^53 - 1) lose digits. Send the number as text, in quotes.`;

/**
 * The maximum depth of nested values. Real data is not nested more deeply, and at great depth, `JSON.stringify` and
 * Postgres would overflow their stacks.
 */
const MAX_DEPTH = 64;
/** The placeholder in a body for a file that was removed. The placeholder is valid base64. */
const FILE_PLACEHOLDER = 'AAAA';
/**
 * The placeholder for a file that is not valid base64. The placeholder replaces megabytes that are no longer needed.
 */
const INVALID_FILE_PLACEHOLDER = '!';

export interface JsonBodyRules {
  /**
   * The path to the records that have a base64 file in their `content`: `['attachments']`, or `['emails',
   * 'attachments']` for the attachments of each email in a list.
   */
  filesAt?: readonly string[] | undefined;
  /** The maximum number of bytes of the body without its files. Checked only if `filesAt` is set. */
  maxOtherBytes: number;
}

/**
 * A parsed body, or the reason to refuse the body before any other check: too many values (`nodes`), or too many bytes
 * (`size`).
 */
export type JsonBody =
  | { fault: 'nodes' | 'size' }
  | {
      fault?: undefined;
      value: unknown;
      unstorable: Unstorable | undefined;
      /**
       * The decoded file of each record that may have one, or undefined. `value` has a placeholder instead of each
       * file.
       */
      files: (Uint8Array | undefined)[];
    };

/**
 * Parses a JSON body, decodes its files, and normalizes its strings (see `normalizeStrings`). If a value cannot be
 * stored, or an object has a name twice, describes the error in `unstorable`, and decodes and normalizes nothing.
 * Parsing takes 10 ms per megabyte, so large bodies are parsed in a thread.
 * @throws AppError BAD_REQUEST for invalid JSON
 */
export function readJsonBody(bytes: Uint8Array, { filesAt, maxOtherBytes }: JsonBodyRules): JsonBody {
  const members = countMembers(bytes);
  if (members === undefined) return { fault: 'nodes' };
  const value = parseJson(bytes);
  const records = filesAt === undefined ? [] : findFileRecords(value, filesAt);
  const fileChars = records.reduce((sum, { content }) => sum + (typeof content === 'string' ? content.length : 0), 0);
  if (filesAt !== undefined && bytes.byteLength - fileChars > maxOtherBytes) return { fault: 'size' };
  const count = { left: JSON_MAX_NODES, members: 0 };
  const unstorable =
    searchUnstorable(value, 0, count) ?? findRepeatedNameIssue(bytes, { members, parsed: count.members });
  if (unstorable) return { value, unstorable, files: [] };
  const files = records.map(extractFile);
  return { value: mayNeedNormalizing(bytes) ? normalizeStrings(value) : value, unstorable, files };
}

/**
 * Finds a name that an object has twice. JSON.parse silently keeps the last value, so `{"to": "a", "to": "b"}` would
 * send only one email (RFC 7493 §2.3 forbids such documents). If the text has more members than the parsed value, a
 * name is repeated. The text is scanned again only in this case, or if normalization may make two names equal.
 */
function findRepeatedNameIssue(bytes: Uint8Array, count: { members: number; parsed: number }): Unstorable | undefined {
  if (count.members === count.parsed && !mayNeedNormalizing(bytes)) return undefined;
  const path = findRepeatedName(bytes);
  return path && { path, message: REPEATED_NAME, code: 'duplicate_field' };
}

/** Returns the records of a body that may have a file, in order. The records are not checked yet. */
function findFileRecords(body: unknown, [name, ...rest]: readonly string[]): { content?: unknown }[] {
  if (name === undefined) return [isRecord(body) ? body : {}];
  const records: unknown = isRecord(body) ? body[name] : undefined;
  return Array.isArray(records) ? records.flatMap((record: unknown) => findFileRecords(record, rest)) : [];
}

function extractFile(record: { content?: unknown }): Uint8Array | undefined {
  const { content } = record;
  if (typeof content !== 'string' || content === '') return undefined;
  const valid = isBase64(content);
  record.content = valid ? FILE_PLACEHOLDER : INVALID_FILE_PLACEHOLDER;
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
 * Finds the first value that cannot be stored unchanged: a text or name with NUL or half of a surrogate pair, a number
 * beyond 2^53 - 1, or a value that is nested too deeply. A value with more than `JSON_MAX_NODES` values is refused,
 * too. The search is fast, because it uses native functions for strings.
 */
export function findUnstorableValue(value: unknown): Unstorable | undefined {
  return searchUnstorable(value, 0, { left: JSON_MAX_NODES, members: 0 });
}

/** A value that cannot be stored unchanged: its path, and the error message. */
export interface Unstorable {
  path: string[];
  message: string;
  /** The code of the field's error; `invalid_string` by default. */
  code?: 'duplicate_field';
}

/** How many values may still be visited (`left`), and how many members of objects were visited. */
interface NodeCount {
  left: number;
  members: number;
}

function searchUnstorable(value: unknown, depth: number, nodes: NodeCount): Unstorable | undefined {
  nodes.left -= 1;
  if (nodes.left < 0) return { path: [], message: TOO_MANY_NODES };
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : { path: [], message: 'Must not contain NUL or broken Unicode characters.' };
  }
  if (typeof value === 'number' && !isExactNumber(value)) return { path: [], message: NUMBER_TOO_LARGE };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { path: [], message: `Must not be nested deeper than ${MAX_DEPTH} levels.` };
  const keys = Object.keys(value);
  if (!Array.isArray(value)) nodes.members += keys.length;
  for (const key of keys) {
    if (!isStorable(key)) return { path: [], message: 'Names must not contain NUL or broken Unicode characters.' };
    const found = searchUnstorable(Reflect.get(value, key), depth + 1, nodes);
    if (found) return { path: [key, ...found.path], message: found.message };
  }
  return undefined;
}

/**
 * Tells whether a number is at most 2^53 - 1, positive or negative. JSON allows larger numbers, but JavaScript rounds
 * them, so an id of 17 digits would become another id (RFC 8259 §6).
 */
function isExactNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Tells whether Postgres can store a text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
