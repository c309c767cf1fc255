/**
 * An email with more bytes of attachments is large. Smaller emails are composed in a few milliseconds, like emails
 * without attachments.
 */
const LARGE_BYTES = 256 * 1024;

/**
 * Tells whether an email with this many bytes of attachments is large. Large emails have a separate queue, and only a
 * few are sent concurrently.
 */
export function isLargeEmail(fileBytes: number): boolean {
  return fileBytes > LARGE_BYTES;
}
