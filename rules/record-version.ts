import { AppError } from './errors.ts';

/** The version of a record that the caller has read. The caller sends it with a change of the record. */
export interface ReadVersion {
  /**
   * The entity tags of the header `If-Match`, without quotes. Absent if the header is missing or `*`, which matches any
   * version.
   */
  tags?: readonly string[] | undefined;
  /** The `updatedAt` of the record that the caller has read. */
  updatedAt?: Date | undefined;
}

/** A record whose version is checked. */
export interface VersionedRecord {
  name: 'campaign' | 'template' | 'workflow' | 'segment';
  /** When the record was last changed. */
  updatedAt: Date;
  /** When the changed part, such as a step of a workflow, was last changed. Absent if the whole record is written. */
  partUpdatedAt?: Date;
}

/**
 * Returns the version of a record: its last change in milliseconds. Every change of the content increases this time by
 * at least one millisecond. Statistics and the progress of sending do not change it.
 */
export function toVersionTag(updatedAt: Date): string {
  return updatedAt.getTime().toString(36);
}

/**
 * Refuses a write that is based on an older version of the record, so that no change by another user is lost (contract
 * §1.12 Versions). The record must be locked in the current transaction. If the request has no version, the write is
 * allowed.
 * @throws AppError CONFLICT with the current version in `details`
 */
export function assertUnchanged(record: VersionedRecord, read: ReadVersion | undefined): void {
  const { tags, updatedAt } = read ?? {};
  const tag = toVersionTag(record.updatedAt);
  const isTagCurrent = !tags || tags.includes(tag);
  const times = [record.updatedAt, ...(record.partUpdatedAt ? [record.partUpdatedAt] : [])];
  const isTimeCurrent = !updatedAt || times.some((time) => time.getTime() === updatedAt.getTime());
  if (isTagCurrent && isTimeCurrent) return;
  throw new AppError('CONFLICT', {
    message: `The ${record.name} was changed after you read it.`,
    details: toConflictDetails(record.updatedAt),
    suggestion: `Read the ${record.name} again with GET /${record.name}s/{id}, merge your changes into it, and send them with its new ETag or updatedAt.`,
  });
}

/** Returns the current version of a record for the `details` of a conflict. */
export function toConflictDetails(updatedAt: Date): Record<string, string> {
  return { updatedAt: updatedAt.toISOString(), etag: `"${toVersionTag(updatedAt)}"` };
}
