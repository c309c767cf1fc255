/** Values of this length cannot be meant: comments in them are not removed, which would take time for each level. */
const COMMENTED_MAX_CHARS = 2_000;

/**
 * Reads the first word of a structured field in lower case, without comments and parameters: `auto-replied` of `(a trip)
 * Auto-Replied (vacation); owner=x`.
 */
export function firstWord(value: string): string {
  return (/^\s*([^\s;(,]*)/.exec(withoutComments(value))?.[1] ?? '').toLowerCase();
}

/** Removes comments (RFC 5322 §3.2.2), which may be in any structured field, also of a report (RFC 3464 §2.1.2). */
export function withoutComments(value: string): string {
  let text = value.slice(0, COMMENTED_MAX_CHARS);
  for (let shorter = ''; shorter !== text; ) {
    shorter = text;
    text = text.replace(/\([^()]*\)/g, ' ');
  }
  return text.trim();
}
