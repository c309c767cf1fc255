/**
 * The maximum number of values in a JSON body. All tenants share the process that parses, checks and compares these
 * values. Usual records have far fewer values, and large requests consist mainly of long strings.
 */
export const JSON_MAX_NODES = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const STRUCTURAL = new Set([...',:[{'].map((sign) => sign.charCodeAt(0)));
const IS_STRUCTURAL = Uint8Array.from({ length: 256 }, (_, byte) => (STRUCTURAL.has(byte) ? 1 : 0));
/** In a string that is longer than this, such as a file in base64, the end is searched with native functions. */
const LONG_STRING = 256;

const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/**
 * Counts the members of all objects in JSON text, without parsing it. Returns undefined if the text has more than `max`
 * commas, colons and opening brackets outside its strings, or more than `max + 1` strings. Reads the bytes once, and
 * stops as soon as there are too many. Invalid JSON is not reported here, but later by the parser.
 */
export function countMembers(bytes: Uint8Array, max = JSON_MAX_NODES): number | undefined {
  let nodes = 0;
  let strings = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      // Valid JSON has a separator between two strings. The limit stops the search in invalid text that has many
      // strings and no separators.
      strings += 1;
      if (strings > max + 1) return undefined;
      at = findStringEnd(bytes, at + 1);
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
  /** The names that the object has so far. Undefined for a list. */
  names: Set<string> | undefined;
  /** The name or index at the current position. */
  at: string;
}

/**
 * Returns the path of the first name that an object in valid JSON text has twice. Undefined if every name is unique.
 */
export function findRepeatedName(bytes: Uint8Array): string[] | undefined {
  const containers: Container[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let last = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const container = containers.at(-1);
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = findStringEnd(bytes, at + 1);
      // Only names are decoded. Values are skipped, because they may be large files.
      if (container?.names && isName(bytes, end)) last = JSON.parse(text.toString('utf8', at, end + 1)) as string;
      at = end;
    } else if (byte === COLON && container?.names) {
      container.at = last.normalize('NFC');
      if (container.names.has(container.at)) return containers.map((container) => container.at);
      container.names.add(container.at);
    } else if (byte === COMMA && container && !container.names) container.at = String(Number(container.at) + 1);
    else if (byte === OPEN_OBJECT) containers.push({ names: new Set(), at: '' });
    else if (byte === OPEN_LIST) containers.push({ names: undefined, at: '0' });
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) containers.pop();
  }
  return undefined;
}

/** Tells whether a string is a name: a colon follows the quote at `end`. */
function isName(bytes: Uint8Array, end: number): boolean {
  let at = end + 1;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at += 1;
  return bytes[at] === COLON;
}

/** Returns the offset of the quote that ends a string, or the length of the text. */
function findStringEnd(bytes: Uint8Array, from: number): number {
  let nativeFrom = from + LONG_STRING;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
    else if (at >= nativeFrom) {
      const plain = findQuoteOrBackslash(bytes, at);
      nativeFrom = plain + LONG_STRING;
      at = plain - 1;
    }
  }
  return bytes.length;
}

/** Returns the offset of the next quote or backslash. */
function findQuoteOrBackslash(bytes: Uint8Array, from: number): number {
  const quote = bytes.indexOf(QUOTE, from);
  const end = quote < 0 ? bytes.length : quote;
  const backslash = bytes.subarray(from, end).indexOf(BACKSLASH);
  return backslash < 0 ? end : from + backslash;
}
