/**
 * Returns the first characters of an untrusted text, in a form that Postgres can store: NUL becomes a space, and half
 * of a surrogate pair at the end becomes U+FFFD.
 * @param maxChars the maximum length, in UTF-16 code units
 */
export function cutText(text: string, maxChars: number): string {
  return text.replaceAll('\0', ' ').slice(0, maxChars).toWellFormed();
}

const REPLY_MAX_CHARS = 1_000;

/** Cuts a server's reply to the length that is stored with an email and shown to an operator. */
export function cutServerReply(text: string): string {
  return cutText(text, REPLY_MAX_CHARS);
}
