/**
 * Maximum number of values in a JSON body. Parsing, checking and comparing them costs the process that all tenants
 * share. Records are far below this limit; large requests consist of strings.
 */
export const JSON_MAX_NODES = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const STRUCTURAL = new Set([...',:[{'].map((sign) => sign.charCodeAt(0)));
const IS_STRUCTURAL = Uint8Array.from({ length: 256 }, (_, byte) => (STRUCTURAL.has(byte) ? 1 : 0));
/** In a string longer than this, such as a file in base64, the end is searched natively. */
const LONG_STRING = 256;

const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/**
 * Counts the members of all objects of JSON text, before it is parsed. Undefined for a text with more than `max`
 * commas, colons and opening brackets outside its strings: one pass over the bytes that stops at the first one too
 * many. Invalid JSON is left to the parser.
 */
export function countMembers(bytes: Uint8Array, max = JSON_MAX_NODES): number | undefined {
  let nodes = 0;
  let strings = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      // Valid JSON has a separator between two strings. Many strings without separators are refused, too.
      strings += 1;
      if (strings > max + 1) return undefined;
      at = stringEnd(bytes, at + 1);
    } else if (IS_STRUCTURAL[byte] === 1) {
      nodes += 1;
      if (nodes > max) return undefined;
      if (byte === COLON) members += 1;
    }
  }
  return members;
}

/** An object or a list around the current position of a scan. */
interface Container {
  /** The names so far; undefined for a list. */
  names: Set<string> | undefined;
  /** The current name or index. */
  at: string;
}

/**
 * Returns the path of the first name that an object of valid JSON text has twice; undefined if every name is unique.
 */
export function findRepeatedName(bytes: Uint8Array): string[] | undefined {
  const around: Container[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let last = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const here = around.at(-1);
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at + 1);
      // Only names are decoded, never values, which may be files.
      if (here?.names && isName(bytes, end)) last = JSON.parse(text.toString('utf8', at, end + 1)) as string;
      at = end;
    } else if (byte === COLON && here?.names) {
      here.at = last.normalize('NFC');
      if (here.names.has(here.at)) return around.map((container) => container.at);
      here.names.add(here.at);
    } else if (byte === COMMA && here && !here.names) here.at = String(Number(here.at) + 1);
    else if (byte === OPEN_OBJECT) around.push({ names: new Set(), at: '' });
    else if (byte === OPEN_LIST) around.push({ names: undefined, at: '0' });
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) around.pop();
  }
  return undefined;
}

/** Tells whether a colon follows the string that ends at this quote. */
function isName(bytes: Uint8Array, end: number): boolean {
  let at = end + 1;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at += 1;
  return bytes[at] === COLON;
}

/** Returns the offset of the quote that ends a string, or the end of the text. */
function stringEnd(bytes: Uint8Array, from: number): number {
  let near = from + LONG_STRING;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
    else if (at >= near) {
      const plain = plainUntil(bytes, at);
      near = plain + LONG_STRING;
      at = plain - 1;
    }
  }
  return bytes.length;
}

/** Returns the offset of the next quote or backslash. */
function plainUntil(bytes: Uint8Array, from: number): number {
  const quote = bytes.indexOf(QUOTE, from);
  const end = quote < 0 ? bytes.length : quote;
  const backslash = bytes.subarray(from, end).indexOf(BACKSLASH);
  return backslash < 0 ? end : from + backslash;
}
