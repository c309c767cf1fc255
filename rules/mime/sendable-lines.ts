/** RFC 5322 §2.1.1, without the CRLF. */
export const LINE_MAX_OCTETS = 998;

/**
 * Tells whether the bytes have a NUL octet or a line of more than 998 octets, which mail servers reject or change. Only
 * CRLF ends a line.
 */
export function hasUnsendableLine(bytes: Buffer): boolean {
  if (bytes.includes(0)) return true;
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf('\r\n', at);
    const lineEnd = found === -1 ? bytes.length : found;
    if (lineEnd - at > LINE_MAX_OCTETS) return true;
    at = lineEnd + 2;
  }
  return false;
}
