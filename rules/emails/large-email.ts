/**
 * Total size of attachments from which an email is large. Smaller emails are composed in a few milliseconds, like
 * emails without attachments.
 */
const LARGE_BYTES = 256 * 1024;

/**
 * Tells whether an email with this many bytes of attachments is large. Large emails wait separately, and only a few are
 * in progress at a time.
 */
export function isLargeEmail(fileBytes: number): boolean {
  return fileBytes > LARGE_BYTES;
}
