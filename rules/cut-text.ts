/**
 * Returns the first characters of an untrusted text, in a form that Postgres can store: NUL becomes a space, and a
 * character that the cut would halve becomes U+FFFD.
 * @param maxChars UTF-16 code units
 */
export function cutText(text: string, maxChars: number): string {
  return text.replaceAll('\0', ' ').slice(0, maxChars).toWellFormed();
}

const REPLY_MAX_CHARS = 1_000;

/** Cuts a server's reply to the part that is stored with an email and shown to an operator. */
export function cutServerReply(text: string): string {
  return cutText(text, REPLY_MAX_CHARS);
}
