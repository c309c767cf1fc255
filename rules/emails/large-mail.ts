/**
 * Files of a mail together from which on it is large: what is less is made in a few milliseconds, as other mails are.
 */
const LARGE_BYTES = 256 * 1024;

/** Whether a mail with so many bytes of files waits among the large ones, of which there are few at a time. */
export function isLargeMail(fileBytes: number): boolean {
  return fileBytes > LARGE_BYTES;
}
