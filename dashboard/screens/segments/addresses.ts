/** Maximum number of addresses in one request. */
export const MAX_ADDRESSES = 500;

/**
 * Returns the addresses in a pasted text, each once and in lower case. Line breaks, commas, semicolons and spaces
 * separate addresses. For `Ada <ada@example.com>`, returns the address in the angle brackets.
 */
export function parseAddresses(text: string): string[] {
  const addresses = text.match(ADDRESS) ?? [];
  // If no word looks like an address, returns all words, and the API reports each invalid one.
  const words = addresses.length > 0 ? addresses : text.split(/[\s,;<>"]+/).filter((word) => word !== '');
  return [...new Set(words.map((word) => word.toLowerCase()))];
}

/** An address, whose local part may be in quotes with any characters (RFC 5321 §4.1.2). */
const ADDRESS = /(?:"(?:[^"\\\r\n]|\\.)*"|[^\s,;<>"]+)@[^\s,;<>"]*/g;
