import { AppError } from './errors.ts';

/** The version of a record that the caller has read, from the request. */
export interface ReadVersion {
  /** Entity tags of `If-Match` without quotes. Absent for `*`, which any version matches. */
  tags?: readonly string[] | undefined;
  /** `updatedAt` of the record that the caller changed. */
  updatedAt?: Date | undefined;
}

/** The name of a record for an error, and the request that reads it again. */
export interface VersionedRecord {
  name: 'campaign' | 'template' | 'workflow' | 'segment';
  /** When the record, or the part of it that is written, was last changed. */
  updatedAt: Date;
  /** When the written part was last changed, if only a part of the record is written. */
  partUpdatedAt?: Date;
}

/**
 * Returns the version of a record: its last change in milliseconds. Every change of content increases it by at least
 * one millisecond; statistics and sending progress do not change it.
 */
export function versionTag(updatedAt: Date): string {
  return updatedAt.getTime().toString(36);
}

/**
 * Refuses a write that is based on an older version, so that no change by another user is lost (contract §1.12
 * Versions). The caller holds the lock of the record. Without a version the last write wins.
 * @throws AppError CONFLICT with the current version in `details`
 */
export function assertUnchanged(record: VersionedRecord, read: ReadVersion | undefined): void {
  const { tags, updatedAt } = read ?? {};
  const tag = versionTag(record.updatedAt);
  const isTagKnown = !tags || tags.includes(tag);
  const moments = [record.updatedAt, ...(record.partUpdatedAt ? [record.partUpdatedAt] : [])];
  const isMomentKnown = !updatedAt || moments.some((moment) => moment.getTime() === updatedAt.getTime());
  if (isTagKnown && isMomentKnown) return;
  throw new AppError('CONFLICT', {
    message: `The ${record.name} was changed after you read it.`,
    details: staleDetails(record.updatedAt),
    suggestion: `Read the ${record.name} again with GET /${record.name}s/{id}, merge your changes into it, and send them with its new ETag or updatedAt.`,
  });
}

/** Returns the current version of a record for the `details` of a conflict. */
export function staleDetails(updatedAt: Date): Record<string, string> {
  return { updatedAt: updatedAt.toISOString(), etag: `"${versionTag(updatedAt)}"` };
}
