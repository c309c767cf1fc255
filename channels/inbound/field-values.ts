/**
 * Only this many characters of a value are read. Real values are shorter, and removing deeply nested comments takes
 * time for each level.
 */
const COMMENTED_MAX_CHARS = 2_000;

/**
 * Returns the first word of a structured header field in lower case, without comments and parameters. Example:
 * `auto-replied` for `(a trip) Auto-Replied (vacation); owner=x`.
 */
export function getFirstWord(value: string): string {
  return (/^\s*([^\s;(,]*)/.exec(removeComments(value))?.[1] ?? '').toLowerCase();
}

/**
 * Removes comments in parentheses (RFC 5322 §3.2.2). Any structured header field may contain them, and also the fields
 * of a report (RFC 3464 §2.1.2).
 */
export function removeComments(value: string): string {
  let text = value.slice(0, COMMENTED_MAX_CHARS);
  for (let shorter = ''; shorter !== text; ) {
    shorter = text;
    text = text.replace(/\([^()]*\)/g, ' ');
  }
  return text.trim();
}
