/** Relaxed canonicalisation of RFC 6376 §3.4.2 and §3.4.4, on strings of bytes. */

export interface HeaderField {
  /** In lower case. */
  name: string;
  /** Unfolded, white space runs as one space, none at the ends. */
  value: string;
}

/** A message with CRLF line ends, cut at the empty line. */
export function splitMessage(message: string): { head: string; body: string } {
  const end = message.indexOf('\r\n\r\n');
  return end === -1 ? { head: message, body: '' } : { head: message.slice(0, end), body: message.slice(end + 4) };
}

/** Header fields in their order, canonical. */
export function headerFields(head: string): HeaderField[] {
  const unfolded = head.replace(/\r\n(?=[ \t])/g, '');
  const fields: HeaderField[] = [];
  for (const line of unfolded.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    fields.push({ name: line.slice(0, colon).trim().toLowerCase(), value: relaxedValue(line.slice(colon + 1)) });
  }
  return fields;
}

function relaxedValue(value: string): string {
  return value
    .replace(/\r\n(?=[ \t])/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
}

/** White space runs are one space, none stands at a line's end, and one CRLF ends the last line that is not empty. */
export function relaxedBody(body: string): string {
  const lines = body
    .replace(/[ \t]{2,}|\t/g, ' ')
    .replaceAll(' \r\n', '\r\n')
    .replace(/ $/, '');
  const end = endOfText(lines);
  return end === 0 ? '' : `${lines.slice(0, end)}\r\n`;
}

/** Length without the empty lines at the end; a regular expression would look at every newline on the way. */
function endOfText(lines: string): number {
  let end = lines.length;
  while (end >= 2 && lines.endsWith('\r\n', end)) end -= 2;
  return end;
}
