/**
 * Replaces every CR or LF that is not part of a CRLF by CRLF. Returns the same buffer if there is nothing to replace.
 */
export function withCrlf(data: Buffer): Buffer {
  if (!hasBareNewline(data)) return data;
  return Buffer.from(data.toString('latin1').replace(/\r\n|\r|\n/g, '\r\n'), 'latin1');
}

function hasBareNewline(data: Buffer): boolean {
  for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, at + 1)) if (data[at - 1] !== 13) return true;
  for (let at = data.indexOf(13); at !== -1; at = data.indexOf(13, at + 1)) if (data[at + 1] !== 10) return true;
  return false;
}
