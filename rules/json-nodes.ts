/**
 * Maximum number of values in a JSON body. Parsing, checking and comparing them costs the process that all tenants
 * share. Records are far below this limit; large requests consist of strings.
 */
export const JSON_MAX_NODES = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const STRUCTURAL = new Set([...',:[{'].map((sign) => sign.charCodeAt(0)));
const IS_STRUCTURAL = Uint8Array.from({ length: 256 }, (_, byte) => (STRUCTURAL.has(byte) ? 1 : 0));
/** A string longer than this is searched for its end natively: a file in base64 is one. */
const LONG_STRING = 256;

/**
 * Tells whether JSON text has more than `max` commas, colons and opening brackets outside its strings, before it is
 * parsed: one pass over the bytes that stops at the first one too many. Invalid JSON is left to the parser.
 */
export function hasTooManyNodes(bytes: Uint8Array, max = JSON_MAX_NODES): boolean {
  let nodes = 0;
  let strings = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      // Valid JSON has a character between two strings. Many strings without one are refused all the same.
      strings += 1;
      if (strings > max + 1) return true;
      at = stringEnd(bytes, at + 1);
    } else if (IS_STRUCTURAL[byte] === 1) {
      nodes += 1;
      if (nodes > max) return true;
    }
  }
  return false;
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

/** The next quote or backslash. */
function plainUntil(bytes: Uint8Array, from: number): number {
  const quote = bytes.indexOf(QUOTE, from);
  const end = quote < 0 ? bytes.length : quote;
  const backslash = bytes.subarray(from, end).indexOf(BACKSLASH);
  return backslash < 0 ? end : from + backslash;
}
